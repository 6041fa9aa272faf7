import { getTableColumns, getTableName } from 'drizzle-orm';
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as schema from '../../src/db/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const tables: [string, SQLiteTable][] = Object.values(schema).map((table) => [getTableName(table), table]);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const pragma = async (sql: string) => (await database.client.execute(sql)).rows;

describe('the schema and the migrations', () => {
  it('have the same tables', async () => {
    const rows = await pragma(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('schema_migrations') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'routing_memory_search%'",
    );
    expect(rows.map((row) => row.name).sort()).toEqual(tables.map(([name]) => name).sort());
  });

  it.each(tables)('have the same columns in %s', async (name, table) => {
    const { primaryKeys } = getTableConfig(table);
    const inKey = new Set(primaryKeys.flatMap(({ columns }) => columns.map((column) => column.name)));
    const declared = Object.values(getTableColumns(table)).map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      required: column.notNull,
      isKey: column.primary || inKey.has(column.name),
      // An id that SQLite gives is a default to the schema alone.
      hasDefault: column.hasDefault && !(column.primary && column.getSQLType() === 'integer'),
    }));
    const rows = await pragma(`PRAGMA table_info(${name})`);
    const applied = rows.map((row) => ({
      name: row.name,
      type: row.type,
      // SQLite does not require a value in a key of one text column; the schema does.
      required: row.notnull === 1 || row.pk === 1,
      isKey: Number(row.pk) > 0,
      hasDefault: row.dflt_value !== null,
    }));
    expect(declared).toEqual(applied);
  });

  it.each(tables)('have the same foreign keys in %s', async (name, table) => {
    const declared = getTableConfig(table).foreignKeys.map((key) => {
      const { columns, foreignTable, foreignColumns } = key.reference();
      return {
        from: columns[0]?.name,
        table: getTableName(foreignTable),
        to: foreignColumns[0]?.name,
        onDelete: key.onDelete?.toUpperCase(),
      };
    });
    const applied = (await pragma(`PRAGMA foreign_key_list(${name})`)).map(({ from, table, to, on_delete }) => ({
      from,
      table,
      to,
      onDelete: on_delete,
    }));
    const byFrom = (left: { from: unknown }, right: { from: unknown }) => String(left.from).localeCompare(String(right.from));
    expect(declared.sort(byFrom)).toEqual(applied.sort(byFrom));
  });

  it.each(tables)('have the same unique columns in %s', async (name, table) => {
    const { indexes, columns } = getTableConfig(table);
    const declared = [
      ...indexes.map(({ config }) => config.columns.map((column) => (column as { name: string }).name)),
      ...columns.filter((column) => column.isUnique).map((column) => [column.name]),
    ];
    const unique = (await pragma(`PRAGMA index_list(${name})`)).filter((index) => index.unique === 1 && index.origin === 'u');
    const applied = await Promise.all(
      unique.map(async (index) => (await pragma(`PRAGMA index_info(${index.name})`)).map((row) => row.name)),
    );
    expect(declared).toEqual(applied);
  });
});
