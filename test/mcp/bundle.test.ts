import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorker } from '../../dev/bundle-worker.ts';

const SDK = 'node_modules/@modelcontextprotocol/';

describe('the SDK in the worker’s bundle', () => {
  let code: string;
  beforeAll(async () => {
    ({ code } = await bundleWorker());
  });

  /** The bundler names each module where its code begins. */
  const modulesNamed = (pattern: RegExp) => new Set([...code.matchAll(pattern)].map(([, path]) => path as string));

  it('is evaluated when the first client of MCP comes, not at the start of each isolate', () => {
    const all = [...modulesNamed(/^\/\/ (\S+)$/gm)].filter((path) => path.startsWith(SDK));
    const lazy = modulesNamed(/^var \w+ = __esm\(\{\n\s+"([^"]+)"/gm);
    expect(all.length).toBeGreaterThan(3);
    expect(all.filter((path) => !lazy.has(path))).toEqual([]);
    expect(lazy).toContain('src/mcp/serve-mcp.ts');
  });

  it('needs nothing of Node, and brings no validator that compiles code, which the runtime forbids', () => {
    expect(code).not.toMatch(/from "node:|import\("node:|require\("node:/);
    expect([...modulesNamed(/^\/\/ (\S+)$/gm)].filter((path) => /node_modules\/ajv|ajvProvider/.test(path))).toEqual([]);
  });
});
