import { describe, expect, it } from 'vitest';
import { kindOf, ripeningMs, usualKinds } from '../../sandbox-host/warm-kind.ts';
import { WarmStock } from '../../sandbox-host/warm-stock.ts';
import { DEFAULT_SANDBOX_IMAGES } from '../../src/contract/images.ts';
import { runRequest } from '../../src/contract/runs.ts';

const kind = (change: object = {}) => kindOf(runRequest.parse({ id: 'a', image: 'alpine:3.20', command: ['echo', 'hi'], ...change }));
const keyOf = (change: object = {}) => kind(change)?.key;
const NODE = { image: 'node:22-alpine', command: ['node', '-'] };
const FILE = { path: 'a', contentBase64: '' };

describe('kindOf', () => {
  it('is one for commands, whatever they are and whatever files they have', () => {
    expect(kind()).toMatchObject({ image: 'alpine:3.20', interpreter: undefined });
    for (const change of [
      { id: 'b' },
      { command: ['sh'] },
      { stdin: 'x' },
      { files: [FILE] },
      { returnFiles: true },
      { limits: { timeoutMs: 5 } },
    ]) {
      expect(keyOf(change)).toBe(keyOf());
    }
  });

  it('differs where the container does', () => {
    const changes = [
      { image: 'node:22-alpine' },
      ...[{ cpuLimit: 200 }, { memoryLimit: 300 }, { networkEnabled: true }, { readOnly: false }].map((limits) => ({ limits })),
    ];
    expect(new Set([keyOf(), ...changes.map(keyOf)]).size).toBe(6);
  });

  it('has the interpreter started that reads its program from standard input', () => {
    expect(kind(NODE)).toMatchObject({ interpreter: { command: ['node', '-'] }, returnFiles: false });
    expect(kind({ ...NODE, returnFiles: true })).toMatchObject({ interpreter: { command: ['node', '-'] }, returnFiles: true });
    expect(kind({ image: 'python:3.12-alpine', command: ['python3', '-'] })?.interpreter?.command).toEqual(['python3', '-']);
  });

  it.each([
    ['other arguments', { command: ['node', '-', 'x'] }],
    ['arguments that only look alike', { command: ['node -'] }],
    ['files, among which there may be modules', { files: [FILE] }],
  ])('does not start an interpreter with %s', (_, change) => {
    expect(kind({ ...NODE, ...change })).toMatchObject({ interpreter: undefined });
  });

  it('is none with variables of the environment, or with long arguments', () => {
    expect(kind({ env: { A: 'b' } })).toBeUndefined();
    expect(kind({ command: ['sh', '-c', 'x'.repeat(8_000)] })).toBeDefined();
    expect(kind({ command: ['sh', '-c', 'x'.repeat(8_200)] })).toBeUndefined();
  });
});

describe('usualKinds', () => {
  it('are what the built-in skills ask for', () => {
    const requests = [
      { ...NODE, returnFiles: true },
      { image: 'python:3.12-alpine', command: ['python3', '-'], returnFiles: true },
      { command: ['ls'] },
    ];
    expect(usualKinds(DEFAULT_SANDBOX_IMAGES).map(({ key }) => key)).toEqual(requests.map(keyOf));
    expect(usualKinds(['alpine:3.20'])).toHaveLength(1);
  });
});

describe('ripeningMs', () => {
  it('is what an interpreter takes to start, at its share of a CPU', () => {
    const node = kind(NODE);
    if (!node) throw new Error('no kind');
    expect(ripeningMs(node, 100)).toBe(500);
    expect(ripeningMs(node, 1_000)).toBe(95);
    expect(ripeningMs(node, 4_000)).toBe(95);
    expect(ripeningMs({ ...node, interpreter: undefined }, 100)).toBe(0);
  });
});

describe('WarmStock', () => {
  it('waits longer after each failure, up to a minute', () => {
    const [usual] = usualKinds(DEFAULT_SANDBOX_IMAGES);
    if (!usual) throw new Error('no kind');
    const stock = new WarmStock(usual, 1);
    expect(stock.mayGrow(0)).toBe(true);
    expect(Array.from({ length: 8 }, () => stock.fail(0))).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(stock.mayGrow(59_999)).toBe(false);
    expect(stock.mayGrow(60_000)).toBe(true);
  });
});
