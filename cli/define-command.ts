import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Session } from './session.ts';

/** What a command does once its line is understood. */
export type Work = (session: Session) => Promise<void>;

/** Does the work of a command in a session of its own. */
export type Start = (command: Command, work: Work) => Promise<void>;

const wholeNumber =
  (min: number, max: number) =>
  (text: string): string => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return text;
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`);
  };

/** The options of every list. */
export const addPageOptions = (command: Command, maxLimit = 200): Command =>
  command
    .addOption(new Option('--page <number>', 'page, counted from 1').argParser(wholeNumber(1, 1_000_000)))
    .addOption(new Option('--limit <number>', `items on a page, at most ${maxLimit}`).argParser(wholeNumber(1, maxLimit)));

/** The group that subcommands stand in. */
export const addGroup = (program: Command, name: string, summary: string): Command =>
  program.command(name).description(summary).helpCommand(false);
