/** Strings, quoted names, comments, parameters, `;`, white space, words and anything else. Source: https://www.sqlite.org/lang_expr.html#parameters */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|(?<space>\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<parameter>\?\d*|[:@$][A-Za-z0-9_$\u0080-\uffff]+)|(?<end>;)|(?<word>[A-Za-z0-9_\u0080-\uffff]+)|./gs;

const CREATE_TRIGGER = /^CREATE (?:TEMP |TEMPORARY )?TRIGGER\b/;
const MAX_PARAMETERS = 32_766;

export interface SqlScan {
  /** 0, 1 or 2, where 2 stands for more than one. */
  statements: 0 | 1 | 2;
  /** One entry for each parameter of the only statement, in the order of their numbers; null for a plain `?`. */
  parameters: (string | null)[];
  isExplain: boolean;
  /**
   * Whether the only statement may take the database's write lock. When in doubt it may.
   * (SQLite would tell in `EXPLAIN`, but that stays active in the native package and spoils its connection.)
   */
  writes: boolean;
}

/** What SQLite's own parser knows of a text and the native package does not tell. */
export function scanSql(sql: string): SqlScan {
  const parameters: (string | null)[] = [];
  const words: string[] = [];
  let assigns = false;
  let ended = false;
  let started = false;
  for (const match of sql.matchAll(TOKEN)) {
    const { parameter, end, space, word } = match.groups ?? {};
    if (space !== undefined) continue;
    if (end !== undefined) {
      ended = started;
      continue;
    }
    if (ended && !CREATE_TRIGGER.test(words.slice(0, 3).join(' ')))
      return { statements: 2, parameters: [], isExplain: false, writes: true };
    started = true;
    if (word !== undefined) words.push(word.toUpperCase());
    if (parameter !== undefined) addParameter(parameters, parameter);
    assigns ||= match[0] === '=';
  }
  return { statements: started ? 1 : 0, parameters, isExplain: words[0] === 'EXPLAIN', writes: mayWrite(words, assigns) };
}

function mayWrite([first = '', second = '', ...rest]: string[], assigns: boolean): boolean {
  switch (first) {
    case 'SELECT':
    case 'VALUES':
    case 'EXPLAIN':
    case 'COMMIT':
    case 'END':
    case 'ROLLBACK':
    case 'SAVEPOINT':
    case 'RELEASE':
      return false;
    case 'BEGIN':
      return second === 'IMMEDIATE' || second === 'EXCLUSIVE';
    case 'PRAGMA':
      return assigns && second !== 'FOREIGN_KEYS';
    case 'WITH':
      return rest.some((word) => ['INSERT', 'REPLACE', 'UPDATE', 'DELETE'].includes(word));
    default:
      return true;
  }
}

function addParameter(parameters: (string | null)[], parameter: string): void {
  if (parameter === '?') {
    parameters.push(null);
  } else if (parameter.startsWith('?')) {
    const position = Math.min(Number(parameter.slice(1)), MAX_PARAMETERS);
    while (parameters.length < position) parameters.push(null);
    if (position > 0) parameters[position - 1] = parameter;
  } else if (!parameters.includes(parameter)) {
    parameters.push(parameter);
  }
}
