import { describe, expect, it } from 'vitest';
import { scanSql } from '../../dev/libsql/scan-sql.ts';

describe('scanSql', () => {
  it.each([
    ['', 0],
    [' ; -- none\n /* ; */ ;', 0],
    ['SELECT 1', 1],
    ['SELECT 1; -- done', 1],
    [`SELECT ';', "a;b", \`c;d\`, [e;f], 'it''s;' /* ; */`, 1],
    ['SELECT 1; SELECT 2', 2],
    ['CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT 2; END', 1],
  ])('%s has %i statements', (sql, statements) => {
    expect(scanSql(sql).statements).toBe(statements);
  });

  it.each([
    ['SELECT ?, ?', [null, null]],
    ['SELECT ?2, ?1, ?2', ['?1', '?2']],
    ['SELECT :a, @b, $c, :a', [':a', '@b', '$c']],
    [`SELECT '?', ":a", -- ?\n ?`, [null]],
    ['SELECT ?3', [null, null, '?3']],
  ])('%s has the parameters %j', (sql, parameters) => {
    expect(scanSql(sql).parameters).toEqual(parameters);
  });

  it.each([
    ['select * from a', false],
    ['/* insert */ SELECT 1', false],
    ['VALUES (1)', false],
    ['EXPLAIN DELETE FROM a', false],
    ['WITH x AS (SELECT 1) SELECT * FROM x', false],
    ["WITH x AS (SELECT 'delete') SELECT * FROM x", false],
    ['WITH x AS (SELECT 1) INSERT INTO a SELECT * FROM x', true],
    ['BEGIN', false],
    ['BEGIN TRANSACTION READONLY', false],
    ['BEGIN IMMEDIATE', true],
    ['begin exclusive', true],
    ['COMMIT', false],
    ['ROLLBACK TO x', false],
    ['PRAGMA foreign_keys=off', false],
    ['PRAGMA user_version', false],
    ['PRAGMA user_version = 3', true],
    ['INSERT INTO a VALUES (1)', true],
    ['CREATE TABLE a (b)', true],
    ['VACUUM', true],
  ])('%s writes: %s', (sql, writes) => {
    expect(scanSql(sql).writes).toBe(writes);
  });
});
