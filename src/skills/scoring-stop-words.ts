import * as stopword from 'stopword';
import { foldText } from './tokenize.ts';

/** In a description this one tells what a skill works on ("text from PDF files"), so it counts like any other word. */
const TELLING_WORD = 'from';

let words: Set<string> | undefined;

function collectStopWords(): Set<string> {
  const lists = Object.values(stopword).filter((list) => Array.isArray(list));
  const collected = new Set(lists.flat().map(foldText));
  collected.delete(TELLING_WORD);
  return collected;
}

/** Whether a folded token says nothing about a subject, in any language that `stopword` has. The set is made at the first question. */
export function isStopWord(token: string): boolean {
  words ??= collectStopWords();
  return words.has(token);
}
