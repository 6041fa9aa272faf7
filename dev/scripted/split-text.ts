/** Text in pieces of about a word, as models send it. */
export const splitIntoWords = (text: string): string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text]);

/** Arguments in pieces that break anywhere. */
export const splitIntoSlices = (text: string): string[] => text.match(/[\s\S]{1,12}/gu) ?? [];
