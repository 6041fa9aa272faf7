import { expect } from 'vitest';
import { asArray, canonicalJson, isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';

const isThinking = (block: JsonObject | undefined): boolean => block?.type === 'thinking' || block?.type === 'redacted_thinking';

/** Thinking that follows on thinking has to come back as one, unmodified. */
function thinkingRuns(content: readonly JsonObject[]): string[] {
  const runs: JsonObject[][] = [];
  const spoken = content.filter((block) => block.type !== 'text' || String(block.text).trim() !== '');
  spoken.forEach((block, position) => {
    if (!isThinking(block)) return;
    if (isThinking(spoken[position - 1])) runs.at(-1)?.push(block);
    else runs.push([block]);
  });
  return runs.map((run) => canonicalJson(run));
}

/** Remembers what it answered, and refuses requests as the API does. */
export function createApiRules() {
  const issued = new Set<string>();
  const runs = new Set<string>();
  /** What a reply that is to be gone on with has said so far. */
  let paused: JsonObject[] = [];
  const said = (content: readonly JsonObject[]) =>
    canonicalJson(content.filter((block) => block.type !== 'text' || String(block.text).trim() !== ''));

  function checkMessage(message: JsonObject): JsonObject[] {
    expect(['user', 'assistant']).toContain(message.role);
    if (typeof message.content === 'string') {
      expect(message.content).not.toBe('');
      return [];
    }
    const content = objectsOf(message.content);
    expect(content.length).toBeGreaterThan(0);
    expect(content.length).toBe(asArray(message.content).length);
    for (const block of content) {
      if (block.type === 'text') expect(String(block.text).trim()).not.toBe('');
      if (block.type === 'tool_use') expect(isJsonObject(block.input)).toBe(true);
      if (block.type === 'tool_use' || block.type === 'thinking') expect(message.role).toBe('assistant');
      if (block.type === 'tool_result') expect(message.role).toBe('user');
    }
    for (const run of thinkingRuns(content)) expect(runs).toContain(run);
    if (isThinking(content.at(-1))) expect(issued).toContain(said(content));
    return content;
  }

  return {
    /** Remembers a reply. */
    issue(response: JsonObject): void {
      const content = [...paused, ...objectsOf(response.content)];
      issued.add(said(objectsOf(response.content))).add(said(content));
      for (const run of [...thinkingRuns(objectsOf(response.content)), ...thinkingRuns(content)]) runs.add(run);
      paused = response.stop_reason === 'pause_turn' ? content : [];
    },
    check(request: JsonObject): void {
      const contents = objectsOf(request.messages).map(checkMessage);
      const isPrefilled = objectsOf(request.messages).at(-1)?.role === 'assistant';
      if (isPrefilled) expect(issued).toContain(said(contents.at(-1) ?? []));
      const ids = contents.flat().flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
      expect(new Set(ids).size).toBe(ids.length);
      if (ids.length > 0) expect(asArray(request.tools).length).toBeGreaterThan(0);
      contents.forEach((content, position) => {
        const called = (contents[position - 1] ?? []).filter(({ type }) => type === 'tool_use').map(({ id }) => id);
        const answered = content.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => id);
        expect(answered.toSorted()).toEqual(called.toSorted());
        expect(content.slice(0, answered.length).every(({ type }) => type === 'tool_result')).toBe(true);
      });
      const open = (contents.at(-1) ?? []).filter(({ type }) => type === 'tool_use');
      expect(open).toEqual([]);
    },
  };
}
