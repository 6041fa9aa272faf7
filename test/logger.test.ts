import { describe, expect, it } from 'vitest';
import { AppError } from '../src/errors.ts';
import { createLogger } from '../src/logger.ts';

const now = () => new Date('2026-05-06T07:08:09.010Z');

describe('createLogger', () => {
  it.each(['info', 'warn', 'error'] as const)('writes one JSON line per %s', (level) => {
    const lines: string[] = [];
    createLogger((line) => lines.push(line), now)[level]('skills.executor.start', { skill: 'a@1.0.0', text: 'two\nlines' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('\n');
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      ...{ time: '2026-05-06T07:08:09.010Z', level, event: 'skills.executor.start', skill: 'a@1.0.0', text: 'two\nlines' },
    });
  });

  it('lets no field replace time, level or event', () => {
    const lines: string[] = [];
    createLogger((line) => lines.push(line), now).warn('true.event', { time: 1, level: 'x', event: 'false.event' });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ time: '2026-05-06T07:08:09.010Z', level: 'warn', event: 'true.event' });
  });

  it('spells errors out, with their causes', () => {
    const lines: string[] = [];
    const error = Object.assign(new AppError('database_unavailable', 'The database cannot be reached'), {
      cause: new TypeError('fetch failed'),
    });
    createLogger((line) => lines.push(line), now).error('failed', { error, big: 2n });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      big: '2',
      error: {
        ...{ name: 'AppError', message: 'The database cannot be reached', code: 'database_unavailable' },
        ...{ cause: { name: 'TypeError', message: 'fetch failed' }, stack: expect.stringContaining('logger.test') },
      },
    });
  });
});
