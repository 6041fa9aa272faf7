import { Argument, type Command } from 'commander';
import { SHELLS, type Shell, shellScript } from '../completion/shell-script.ts';
import { suggest } from '../completion/suggest.ts';
import type { Start } from '../define-command.ts';
import { write } from '../terminal.ts';

/** `completion` prints what a shell needs; it then asks `complete`, which is not shown, for what may stand where the cursor is. */
export function addCompletionCommands(program: Command, start: Start): void {
  program
    .command('completion')
    .description('print what completes this command in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Where omniroute-edge is installed (npm install -g omniroute-edge):
  bash  echo 'source <(omniroute-edge completion bash)' >> ~/.bashrc
  zsh   echo 'source <(omniroute-edge completion zsh)' >> ~/.zshrc     (below compinit)
  fish  omniroute-edge completion fish > ~/.config/fish/completions/omniroute-edge.fish`,
    )
    .action((shell: Shell, _options, command: Command) => start(command, ({ terminal }) => write(terminal.stdout, shellScript(shell))));
  program.command('complete [words...]', { hidden: true }).action((words: string[], _options, command: Command) =>
    start(command, async ({ terminal, gateway }) => {
      const suggestions = await suggest(program, words, gateway);
      await write(terminal.stdout, suggestions.map(({ value, description }) => `${value}\t${description}\n`).join(''));
    }),
  );
}
