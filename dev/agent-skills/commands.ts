import type { Argument, Command, Option } from 'commander';

/** A command that does something, as opposed to a group of some. */
export interface NamedCommand {
  /** `omniroute-edge skills list` */
  name: string;
  command: Command;
}

/** The commands that help shows, in its order. */
export function commandsOf(command: Command, name: string = command.name()): NamedCommand[] {
  const inner = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
  if (inner.length === 0) return [{ name, command }];
  return inner.flatMap((each) => commandsOf(each, `${name} ${each.name()}`));
}

const choicesOf = ({ argChoices }: Argument | Option): string => (argChoices === undefined ? '' : ` (${argChoices.join(', ')})`);

const termOf = (argument: Argument): string => {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
};

function commandBlock({ name, command }: NamedCommand): string {
  const lines = [
    ...command.registeredArguments.map((argument) => `- \`${termOf(argument)}\`: ${argument.description}${choicesOf(argument)}`),
    ...command
      .createHelp()
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => `- \`${option.flags}\`: ${option.description}${choicesOf(option)}`),
  ];
  const description = command.description();
  return [
    `### ${name}`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
  ].join('\n\n');
}

/** The part of a SKILL.md that tells what the commands take. */
export function renderCommands(program: Command): string {
  const everywhere = program.options
    .filter(({ long }) => long !== '--version')
    .map(({ flags, description }) => `- \`${flags}\`: ${description}`);
  return ['## Commands', `All of them take:\n\n${everywhere.join('\n')}`, ...commandsOf(program).map(commandBlock)].join('\n\n');
}
