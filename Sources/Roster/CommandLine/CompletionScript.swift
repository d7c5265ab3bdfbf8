/// The scripts by which shells complete: they ask the program itself, so that they never grow old.
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
            local IFS=$'\n' words=() word line=$COMP_LINE current candidates breaks= tail
            # The colon of wins:desc and the equals sign of key=value end words for bash: what no space parts is one word.
            for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
                if [[ ${#words[@]} -eq 0 || $line == [[:space:]]* ]]; then words+=("$word"); else words[-1]+=$word; fi
                line=${line#"${line%%[![:space:]]*}"}
                line=${line#"$word"}
            done
            current=${words[-1]}
            candidates=$(roster complete -- "${words[@]:1}" 2>/dev/null)
            if [ "$candidates" = @files ]; then
                compopt -o filenames 2>/dev/null
                COMPREPLY=($(compgen -f -- "$current"))
                return
            fi
            COMPREPLY=($candidates)
            case $candidates in *=|*:|*/) compopt -o nospace 2>/dev/null ;; esac
            # It puts what is found in the place of what stands behind the last of them.
            [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
            [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
            if [[ -n $breaks && $current == *["$breaks"]* ]]; then
                tail=${current##*["$breaks"]}
                COMPREPLY=("${COMPREPLY[@]#"${current%"$tail"}"}")
            fi
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
