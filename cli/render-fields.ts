import type { JsonObject, JsonValue } from '../src/json.ts';
import { cleanText } from './clean-text.ts';

/** A value of JSON as a person reads it: texts as they are, the rest as indented JSON. */
export const renderValue = (value: JsonValue): string => cleanText(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));

const indent = (text: string): string => text.split('\n').join('\n  ');

/** An object as lines of a name and its value; what has several lines stands below its name. Null and empty values are left out. */
export function renderFields(fields: JsonObject): string {
  const isShown = (value: JsonValue): boolean => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  const shown = Object.entries(fields).filter(([, value]) => isShown(value));
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => {
      const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
      const text = isPlainList ? cleanText(value.join(', ')) : renderValue(value);
      return text.includes('\n') ? `${name}\n  ${indent(text)}\n` : `${name.padEnd(width)}  ${text}\n`;
    })
    .join('');
}
