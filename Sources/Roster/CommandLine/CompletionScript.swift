/// Completion scripts for shells. They call `roster complete`, so they need no update when the verbs change.
enum CompletionScript {
    static func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private static let bash = #"""
        # Completions of roster for bash.
        _roster() {
            local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} rest piece typed candidate index
            local -a words=()
            # The colon of wins:desc and the equals sign of key=value end words for bash: what has no blank before it goes on.
            for ((index = 0; index <= COMP_CWORD; index++)); do
                rest=${line#"${line%%[![:blank:]]*}"}
                piece=${COMP_WORDS[index]}
                if ((index == COMP_CWORD)); then piece=$rest; fi
                if ((index == 0)) || [ "$rest" != "$line" ]; then
                    words+=("$piece")
                else
                    words[${#words[@]}-1]+=$piece
                fi
                line=${rest#"$piece"}
            done
            words=("${words[@]//\\/}")
            typed=${words[${#words[@]}-1]}
            COMPREPLY=($(roster complete -- "${words[@]:1}" 2>/dev/null))
            if [ "${COMPREPLY[*]}" = @files ]; then
                compopt -o filenames 2>/dev/null
                COMPREPLY=($(compgen -f -- "$typed"))
            fi
            case ${COMPREPLY[0]} in *=|*:|*/) compopt -o nospace 2>/dev/null ;; esac
            # Bash puts a candidate in the place of what follows the last colon or equals sign.
            typed=${typed%"${2//\\/}"}
            for index in "${!COMPREPLY[@]}"; do
                candidate=${COMPREPLY[index]#"$typed"}
                case $candidate in
                    *[\ \&\;\(\)\<\>\|\$\`\"\'\*\?]*) if [[ $2 != [\"\']* ]]; then printf -v candidate %q "$candidate"; fi ;;
                esac
                COMPREPLY[index]=$candidate
            done
        }
        complete -F _roster roster

        """#

    private static let zsh = #"""
        #compdef roster
        # Completions of roster for zsh.
        _roster() {
            local -a candidates
            candidates=("${(@f)$(roster complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
            if [[ ${candidates[1]} == @files ]]; then
                _files
            elif [[ -n ${candidates[1]} ]]; then
                if [[ ${candidates[1]} == *[=:/] ]]; then compadd -S '' -- $candidates; else compadd -- $candidates; fi
            fi
        }
        if [ "$funcstack[1]" = _roster ]; then _roster "$@"; else compdef _roster roster; fi

        """#

    private static let fish = #"""
        # Completions of roster for fish.
        function __roster_complete
            set -l words (commandline -opc) (commandline -ct)
            set -l candidates (roster complete -- $words[2..-1] 2>/dev/null)
            if test "$candidates[1]" = @files
                __fish_complete_path (commandline -ct)
            else
                printf '%s\n' $candidates
            end
        end
        complete -c roster -f -a '(__roster_complete)'

        """#
}
