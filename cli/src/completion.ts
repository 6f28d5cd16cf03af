import { Argument, type Command } from "commander";
import { candidatesOf } from "./complete.ts";

/** The hidden command that the shell asks for candidates. */
const COMPLETE = "__complete";

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# Add to ~/.bashrc: eval "$(errand completion bash)"
_errand() {
  local IFS=$'\\n' last=$((COMP_CWORD - 1))
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # By default, bash takes @last for two words.
  if [[ last -gt 0 && "\${words[last - 1]}" == @ ]]; then
    words[last - 1]="@\${words[last]}"
    unset "words[last]"
  fi
  COMPREPLY=($(errand ${COMPLETE} -- "\${words[@]}" 2>/dev/null))
}
complete -o default -F _errand errand
`,
  zsh: `# Add to ~/.zshrc, behind compinit: eval "$(errand completion zsh)"
_errand() {
  local -a candidates
  candidates=("\${(@f)$(errand ${COMPLETE} -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  if [[ -z "$candidates" ]]; then
    _files
  else
    compadd -- $candidates
  fi
}
compdef _errand errand
`,
  fish: `# Add to ~/.config/fish/config.fish: errand completion fish | source
function __errand_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  set -l candidates (errand ${COMPLETE} -- $words "$current" 2>/dev/null)
  if test (count $candidates) -eq 0
    __fish_complete_path "$current"
  else
    printf '%s\\n' $candidates
  end
end
complete -c errand -f -a '(__errand_complete)'
`,
  powershell: `# Add to $PROFILE: errand completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName errand -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  errand ${COMPLETE} '--' @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};

export function addCompletionCommands(program: Command): void {
  program
    .command("completion")
    .summary("print the completion of a shell")
    .description(
      "Prints a script that completes commands, options, and names on the server. The script says where to put it.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: string) => {
      process.stdout.write(SCRIPTS[shell] ?? "");
    });
  program
    .command(COMPLETE, { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const candidates = await candidatesOf(program, words);
      process.stdout.write(candidates.map((word) => `${word}\n`).join(""));
    });
}
