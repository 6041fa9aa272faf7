import { type Column, getTableColumns, type SQL, sql, type Table } from 'drizzle-orm';
import type { JsonValue } from '../json.ts';
import { settings, skills } from './schema.ts';

/** Stands in a query over `settings`: its row, if skills are switched off altogether. */
export const isMasterOff: SQL = sql`${settings.key} = 'skillsEnabled' and ${settings.value} = 'false'`;

/** Stands in a query over `settings`: its row, if only built-in skills may run. */
export const isCustomOff: SQL = sql`${settings.key} = 'customSkillExecutionEnabled' and ${settings.value} = 'false'`;

/** Holds when the skill may run at this moment: it is there, it is on, and so are the switches of the settings. Stands in a query over `skills`. */
export const mayRun = (skillId: string): SQL =>
  sql`${skills.id} = ${skillId} and ${skills.enabled} = 1 and ${skills.mode} <> 'off'
    and not exists (select 1 from ${settings} where (${isMasterOff}) or (${isCustomOff} and ${skills.kind} <> 'builtin'))`;

/** The row's values in the order of the table's columns, as the `select` of an `insert … select` gives them. */
export function selectValues(table: Table, row: { [column: string]: JsonValue | undefined }): SQL {
  const values = Object.entries(getTableColumns(table)).map(([name, column]: [string, Column]) => {
    const value = row[name] ?? null;
    // JSON's null in a column that must not be empty is the text "null".
    return value === null && column.notNull ? sql`${column.mapToDriverValue(null)}` : sql`${sql.param(value, column)}`;
  });
  return sql.join(values, sql`, `);
}
