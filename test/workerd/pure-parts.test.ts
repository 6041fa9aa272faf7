import { describe, expect, it } from 'vitest';
import { createTurnId, markCallId, readCallMarker } from '../../src/gateway/call-marker.ts';
import { readEventStream } from '../../src/gateway/event-stream.ts';
import { isPublicAddress } from '../../src/net/public-address.ts';
import { selectAutoSkills } from '../../src/skills/scoring.ts';
import { buildScoringIndex } from '../../src/skills/scoring-index.ts';
import { createSchemaValidator, normalizeSkillSchema } from '../../src/skills/skill-schema.ts';
import { toolName } from '../../src/skills/tool-name.ts';
import { makeSkill } from '../support/make-skill.ts';

/** What is pure has to give in the Workers runtime what it gives in Node, where the other tests of it run. */
describe('in workerd', () => {
  it('scores skills, also in scripts without spaces', () => {
    const issues = makeSkill({
      name: 'issueSearch',
      description: 'search github issues and pull requests',
      tags: ['github', 'issues', 'search'],
    });
    const weather = makeSkill({ name: '天気', description: '東京の天気予報', tags: ['天気'] });
    const index = buildScoringIndex([issues, weather]);
    const score = (text: string) =>
      index.score({ texts: [text], provider: 'openai', backgroundReason: undefined }).map(({ skill, score }) => [skill.name, score]);
    expect(score('Please search github issues for flaky tests')).toEqual([['issueSearch', 14]]);
    const chosen = selectAutoSkills(
      index,
      { texts: ['東京の天気を教えて'], provider: 'openai', backgroundReason: undefined },
      { minScore: 3, maxSkills: 5 },
    );
    expect(chosen.map(({ name }) => name)).toEqual(['天気']);
  });

  it('names tools and checks schemas without generating code', async () => {
    expect(await toolName({ name: 'pdf.tools', version: '1.0.0' })).toMatch(/^pdf_tools_.*[0-9a-f]{8}$/);
    const { input } = normalizeSkillSchema({ input: { text: 'string' }, output: {} });
    expect(createSchemaValidator(input).validate({ text: 1 })).toContain('text');
  });

  it('reads event streams, marks calls and judges addresses', async () => {
    const seen: string[] = [];
    const body = new Blob(['data: {"a":"é"}\r\n\r\ndata: [DONE]\n\n']).stream();
    const onData = (data: string) => {
      seen.push(data);
      return '';
    };
    await readEventStream(body, new AbortController().signal, onData, () => undefined);
    expect(seen).toEqual(['{"a":"é"}', '[DONE]']);
    const marker = { id: 'call_1', turnId: createTurnId(() => crypto.randomUUID()), provisional: false };
    expect(readCallMarker(markCallId(marker))).toEqual(marker);
    expect(['1.1.1.1', '10.0.0.1', '::ffff:127.0.0.1'].map(isPublicAddress)).toEqual([true, false, false]);
  });
});
