import { Argument, type Command } from "commander";
import { RUN_HELP } from "./find-run.ts";

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
  compadd -- $candidates
}
compdef _errand errand
`,
};

export function addCompletionCommands(program: Command): void {
  program
    .command("completion")
    .summary("print the completion of a shell")
    .description("Prints a script that completes commands and options. The script says where to put it.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: string) => {
      process.stdout.write(SCRIPTS[shell] ?? "");
    });
  program
    .command(COMPLETE, { hidden: true })
    .argument("[words...]")
    .action((words: readonly string[]) => {
      process.stdout.write(
        candidatesOf(program, words)
          .map((word) => `${word}\n`)
          .join(""),
      );
    });
}

/** What the last of these words may become. */
function candidatesOf(program: Command, words: readonly string[]): readonly string[] {
  const current = words.at(-1) ?? "";
  let command = program;
  for (const word of words.slice(0, -1)) {
    command = command.commands.find((own) => own.name() === word || own.aliases().includes(word)) ?? command;
  }
  const before = words.at(-2);
  const previous = command.options.find(
    ({ long, short }) => before !== undefined && [long, short].includes(before),
  );
  const candidates = previous?.required
    ? (previous.argChoices ?? [])
    : current.startsWith("-")
      ? command.options.flatMap(({ hidden, long }) => (hidden || long == null ? [] : long))
      : argumentsOf(command);
  return candidates.filter((candidate) => candidate.startsWith(current));
}

function argumentsOf(command: Command): readonly string[] {
  const commands = command.createHelp().visibleCommands(command);
  const values = command.registeredArguments;
  return [
    ...commands.map((own) => own.name()),
    ...values.flatMap(({ argChoices = [] }) => argChoices),
    ...(values.some(({ description }) => description === RUN_HELP) ? ["@last"] : []),
  ];
}
