import { describe, expect, it } from 'vitest';
import { checkCommandSize } from '../../sandbox-host/check-command-size.ts';
import { HostError } from '../../sandbox-host/host-error.ts';

const TOGETHER = new HostError('invalid_request', 'Command and environment are too long together');
const longest = 'x'.repeat(131_071);

describe('checkCommandSize', () => {
  it.each([
    ['nothing much', ['echo', 'hi'], { A: 'b' }],
    ['the longest argument', ['echo', longest], {}],
    ['the longest variable', ['echo'], { LONG: longest.slice('LONG='.length) }],
    ['fifteen of them', ['echo', ...Array<string>(15).fill(longest)], {}],
  ])('lets %s pass', (_, command, env) => {
    expect(() => checkCommandSize({ command, env })).not.toThrow();
  });

  it.each([
    ['arguments', ['echo', ...Array<string>(16).fill(longest)], {}],
    ['variables', ['echo'], Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`V${index}`, longest.slice(4)]))],
    [
      'both',
      ['echo', ...Array<string>(8).fill(longest)],
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`V${index}`, longest.slice(4)])),
    ],
    ['characters of several bytes', ['echo', ...Array<string>(32).fill('€'.repeat(21_845))], {}],
    ['empty arguments, whose pointers count', Array<string>(240_000).fill(''), {}],
  ])('refuses too many %s', (_, command, env) => {
    expect(() => checkCommandSize({ command, env })).toThrow(TOGETHER);
  });

  it('refuses a variable that is too long with its name', () => {
    expect(() => checkCommandSize({ command: ['echo'], env: { LONG: longest } })).toThrow(
      new HostError('invalid_request', 'env.LONG: Longer than 131071 bytes with its name'),
    );
  });
});
