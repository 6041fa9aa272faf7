import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectsOf } from '../../src/json.ts';
import { manageStack } from '../support/manage-stack.ts';
import { SESSIONS, type Session } from '../support/sdk-sessions.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

// Whole conversations with the scripted model, which refuses every transcript that its format does not allow.

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
  const { call } = manageStack(stack);
  const [skill] = objectsOf((await call('GET', '/api/skills?q=eval_code')).data);
  expect(await call('PUT', `/api/skills/${skill?.id}`, { policy: 'auto' })).toMatchObject({ success: true });
});
afterAll(async () => {
  await stack?.stop();
});

const cases = Object.keys(SESSIONS).flatMap((format) => [false, true].map((streamed): [string, boolean] => [format, streamed]));

describe.each(cases)('a conversation by %s, streamed: %s', (format, streamed) => {
  const weather = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
  const open = (tools = { get_weather: weather }): Session =>
    (SESSIONS[format] as (typeof SESSIONS)[string])({ url: stack.url, apiKey: stack.apiKey, model: 'scripted-test', streamed, tools });
  const oslo = { name: 'get_weather', input: { city: 'Oslo' } };
  const rome = { name: 'get_weather', input: { city: 'Rome' } };
  const code = (program: string) => JSON.stringify({ code: program, language: 'javascript' });

  const read = 'call file_read {"path":"nowhere"}';
  const NOT_READ = expect.stringMatching(/^file_read answered: .*Skill file not found: nowhere/);

  it('runs code, and goes on', async () => {
    const session = open();
    const answer = expect.stringMatching(/^Let me run that\. ?eval_code answered: 42$/);
    expect(await session.say('What is 6 * 7?')).toEqual({ text: answer, calls: [] });
    expect((await session.say('say Thanks.')).text).toBe('Thanks.');
  });

  it('runs several calls at once, over several rounds', async () => {
    const path = `${format.replaceAll(' ', '-')}-${streamed}.txt`;
    const reply = await open().say(
      [`call file_write {"path":"${path}","content":"kept"}`, read, 'then', `call file_read {"path":"${path}"}`, read, 'then', read].join(
        '\n',
      ),
    );
    expect(reply.calls).toEqual([]);
    const answers = reply.text.split('\n');
    expect(answers[0]).toContain(`"path":"${path}"`);
    expect(answers.slice(1)).toEqual([NOT_READ, 'file_read answered: kept', NOT_READ, NOT_READ]);
  });

  it('is completed by the gateway where a turn has calls of both sides', async () => {
    const session = open();
    const first = await session.say(
      [
        'say Both. ',
        `call eval_code ${code('console.log(2+3)')}`,
        'call get_weather {"city":"Oslo"}',
        'then',
        'call get_weather {"city":"Rome"}',
      ].join('\n'),
    );
    expect(first).toEqual({ text: expect.stringMatching(/^Both\. ?$/), calls: [oslo] });
    expect(await session.answer('rain')).toMatchObject({ calls: [rome] });
    const answer = 'eval_code answered: 5\nget_weather answered: rain\nget_weather answered: sun';
    expect(await session.answer('sun')).toEqual({ text: answer, calls: [] });
    // The whole of it is judged again with what comes next.
    expect((await session.say(read)).text).toEqual(NOT_READ);
  });

  it('is completed where hidden rounds came before, and where our calls stand between those of the client', async () => {
    const session = open();
    const calls = [read, 'then', 'call get_weather {"city":"Oslo"}', read, 'call get_weather {"city":"Rome"}'];
    const first = await session.say([...calls, 'then', read, 'then', 'call get_weather {"city":"Oslo"}'].join('\n'));
    expect(first.calls).toEqual([oslo, rome]);
    expect((await session.answer('rain', 'sun')).calls).toEqual([oslo]);
    const [rain, sun, snow] = ['rain', 'sun', 'snow'].map((said) => `get_weather answered: ${said}`);
    expect((await session.answer('snow')).text.split('\n')).toEqual([NOT_READ, rain, NOT_READ, sun, NOT_READ, snow]);
    expect((await session.say('say Bye.')).text).toBe('Bye.');
  });

  it('leaves calls of the client alone to the client', async () => {
    const session = open();
    expect((await session.say('call get_weather {"city":"Oslo"}\ncall get_weather {"city":"Rome"}')).calls).toEqual([oslo, rome]);
    expect((await session.answer('rain', 'sun')).text).toBe('get_weather answered: rain\nget_weather answered: sun');
    expect((await session.say(read)).text).toEqual(NOT_READ);
  });
});
