import Foundation
import RosterCommands

let words = Array(CommandLine.arguments.dropFirst())
HiddenPasswords.hideArguments()
exit(Program.run(words))
