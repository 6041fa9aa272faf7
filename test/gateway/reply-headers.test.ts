import { describe, expect, it } from 'vitest';
import type { OfferedSkill } from '../../src/gateway/offered-skills.ts';
import { executionsHeader, injectedHeader } from '../../src/gateway/reply-headers.ts';
import { makeSkill } from '../support/make-skill.ts';

const offered = (key: string): OfferedSkill => ({ skill: makeSkill(), key, toolName: key, toolFor: () => ({}) });

describe('headers of a reply', () => {
  it('list what was injected, in the order of the tools', () => {
    const selected = { before: [offered('a@1.0.0'), offered('b@1.0.0')], after: [offered('c@1.0.0')], skillFor: () => undefined };
    expect(injectedHeader(selected)).toBe('a@1.0.0, b@1.0.0, c@1.0.0');
  });

  it('are JSON of the executions, as many as fit into 4 KiB', () => {
    const execution = (n: number) => ({ id: `id-${n}`, skill: 'file_read@1.0.0', status: 'success', durationMs: n });
    expect(JSON.parse(executionsHeader([execution(1)]))).toEqual([execution(1)]);
    const header = executionsHeader(Array.from({ length: 150 }, (_, n) => execution(n)));
    expect(header.length).toBeLessThanOrEqual(4_097);
    const listed = JSON.parse(header) as unknown[];
    expect(listed.length).toBeGreaterThan(40);
    expect(listed).toEqual(Array.from({ length: listed.length }, (_, n) => execution(n)));
  });
});
