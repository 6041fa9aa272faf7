import type { Argument, Command, Option } from 'commander';
import { asText, type JsonObject } from '../../src/json.ts';
import { cleanLine } from '../clean-text.ts';
import { searchSkills } from '../find-skill.ts';
import type { Gateway } from '../gateway.ts';
import { itemsOf } from '../session.ts';

/** What may stand at the cursor. */
export interface Suggestion {
  value: string;
  /** One line. */
  description: string;
}

/** Somebody waits for it with a finger on the key. */
const PATIENCE_MS = 1_500;

const toSuggestion = (value: string, description = ''): Suggestion => ({ value, description: cleanLine(description) });

async function skillNames(gateway: Gateway): Promise<Suggestion[]> {
  const names = new Map<string, string>();
  for await (const { name, description } of searchSkills(gateway, undefined)) names.set(asText(name), asText(description));
  return [...names].map(([name, description]) => toSuggestion(name, description));
}

const listedIds = async (gateway: Gateway, path: string, query: Record<string, string>, describe: (item: JsonObject) => string) =>
  itemsOf(await gateway.call(path, { query })).map((item) => toSuggestion(asText(item.id), describe(item)));

/** Arguments whose values the gateway knows, by their names. */
const KNOWN_BY_GATEWAY: Record<string, (gateway: Gateway) => Promise<Suggestion[]>> = {
  skill: skillNames,
  approval: (gateway) =>
    listedIds(
      gateway,
      '/api/skills/approvals',
      { status: 'pending' },
      ({ skillName, input }) => `${asText(skillName)} ${JSON.stringify(input)}`,
    ),
  key: (gateway) => listedIds(gateway, '/api/keys', {}, ({ name }) => asText(name)),
};

async function valuesOf(argument: Argument, gateway: Gateway): Promise<Suggestion[]> {
  if (argument.argChoices) return argument.argChoices.map((choice) => toSuggestion(choice, argument.description));
  const ask = KNOWN_BY_GATEWAY[argument.name()];
  if (ask === undefined) return [];
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<Suggestion[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS);
  });
  // Without a gateway there is nothing to suggest, and nothing to say about it in the middle of a line.
  return Promise.race([ask(gateway).catch(() => []), enough]).finally(() => clearTimeout(timer));
}

const takesValue = (option: Option | undefined): option is Option => option !== undefined && (option.required || option.optional);

/** Bash gives `--mode=on` as three words; what is completed there is the last one. */
const joinedByShell = (words: readonly string[]): string[] =>
  words
    .map((word, index) => (word === '=' && words[index - 1]?.startsWith('--') ? (index === words.length - 1 ? '' : undefined) : word))
    .filter((word) => word !== undefined);

/** What may stand last in a line of words behind the program's name, of which the last one is not finished and may be empty. */
export async function suggest(program: Command, line: readonly string[], gateway: Gateway): Promise<Suggestion[]> {
  const words = joinedByShell(line);
  const last = words.at(-1) ?? '';
  const optionsOf = (command: Command): Option[] =>
    [...command.createHelp().visibleOptions(command), ...program.options].filter(({ hidden }) => !hidden);
  const find = (command: Command, word: string) => optionsOf(command).find((option) => option.long === word || option.short === word);

  let command = program;
  let isEnded = false;
  let waiting: Option | undefined;
  const given: string[] = [];
  for (const word of words.slice(0, -1)) {
    if (waiting) waiting = undefined;
    else if (word === '--') isEnded = true;
    else if (!isEnded && word.startsWith('-')) {
      const option = find(command, word);
      if (takesValue(option)) waiting = option;
    } else {
      const next: Command | undefined = given.length === 0 ? command.commands.find((sub) => sub.name() === word) : undefined;
      if (next) command = next;
      else given.push(word);
    }
  }

  const matching = (suggestions: Suggestion[]): Suggestion[] => suggestions.filter(({ value }) => value.startsWith(last));
  const choicesOf = (option: Option, before = ''): Suggestion[] =>
    (option.argChoices ?? []).map((choice) => toSuggestion(before + choice, option.description));
  if (waiting) return matching(choicesOf(waiting));
  if (!isEnded && last.startsWith('-')) {
    const [name = ''] = last.split('=', 1);
    const option = last.includes('=') ? find(command, name) : undefined;
    if (option) return matching(choicesOf(option, `${name}=`));
    const names = new Map(optionsOf(command).map(({ long, short, description }) => [long ?? short ?? '', description]));
    return matching([...names].map(([value, description]) => toSuggestion(value, description)));
  }
  const subcommands = given.length === 0 ? command.createHelp().visibleCommands(command) : [];
  if (subcommands.length > 0) return matching(subcommands.map((sub) => toSuggestion(sub.name(), sub.description())));
  const argument = command.registeredArguments[given.length] ?? command.registeredArguments.at(-1);
  const isPast = given.length >= command.registeredArguments.length && argument?.variadic !== true;
  return argument === undefined || isPast ? [] : matching(await valuesOf(argument, gateway));
}
