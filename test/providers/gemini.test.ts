import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { JsonObject } from '../../src/json.ts';
import { createGemini, GEMINI_VERSIONS, type GeminiTarget, geminiPath } from '../../src/providers/gemini.ts';
import { body, call, result, signed, text, thought, unmarked, usage } from './gemini-chunks.ts';

const gemini = createGemini({ model: 'gemini-test', stream: true, framing: 'sse' });
const user = (said: string): JsonObject => ({ role: 'user', parts: [{ text: said }] });
const ask = (more: JsonObject = {}): JsonObject => ({ contents: [user('x')], ...more });

describe('geminiPath', () => {
  const path = (model: string, action: GeminiTarget['action'], framing?: 'json-array') =>
    geminiPath({ version: 'v1beta', model, action }, framing);
  it.each([
    [path('gemini-2.5-pro', 'generateContent'), '/v1beta/models/gemini-2.5-pro:generateContent'],
    [path('gemini-2.5-pro', 'countTokens'), '/v1beta/models/gemini-2.5-pro:countTokens'],
    [path('gemini-2.5-pro', 'streamGenerateContent'), '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    [path('gemini-2.5-pro', 'streamGenerateContent', 'json-array'), '/v1beta/models/gemini-2.5-pro:streamGenerateContent'],
    [path('../../files?x=1#y', 'generateContent'), '/v1beta/models/..%2F..%2Ffiles%3Fx%3D1%23y:generateContent'],
    [path('..', 'generateContent'), '/v1beta/models/..:generateContent'],
    [path('a\ud800', 'generateContent'), '/v1beta/models/a%EF%BF%BD:generateContent'],
  ])('is %s', (path, expected) => {
    expect(path).toBe(expected);
    expect(new URL(path, 'https://p.example').pathname.startsWith('/v1beta/models/')).toBe(true);
  });
  it.each(GEMINI_VERSIONS)('is in the version of the client: %s', (version) => {
    expect(geminiPath({ version, model: 'm', action: 'generateContent' })).toBe(`/${version}/models/m:generateContent`);
  });
});

describe('describeRequest', () => {
  it('reads what scoring and injection need', () => {
    const facts = gemini.describeRequest({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'And kind.' }] },
      generationConfig: { maxOutputTokens: 49 },
      contents: [
        user('Hello'),
        { role: 'model', parts: [thought('secret thought'), text('Hi'), call('weather')] },
        { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'secret result' } } }] },
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: '' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'weather' }, { name: 'sql' }] }, { functionDeclarations: [{ name: 'more' }] }],
    });
    expect(facts).toEqual({
      model: 'gemini-test',
      stream: true,
      texts: ['gemini-test', 'Be brief.', 'And kind.', 'Hello', 'Hi'],
      systemText: 'Be brief.\nAnd kind.',
      userMessageCount: 2,
      maxOutputTokens: 49,
      clientToolNames: new Set(['weather', 'sql', 'more']),
      clientToolCount: 3,
      acceptsTools: true,
    });
  });

  it('reads the other spelling of the API, and single objects in place of lists', () => {
    const facts = createGemini({ model: 'm', stream: false, framing: 'sse' }).describeRequest({
      system_instruction: { parts: { text: 'Be brief.' } },
      generation_config: { max_output_tokens: 49 },
      contents: { role: 'user', parts: { text: 'Hello' } },
      tools: { function_declarations: [{ name: 'weather' }] },
    });
    expect(facts).toMatchObject({
      model: 'm',
      stream: false,
      texts: ['m', 'Be brief.', 'Hello'],
      systemText: 'Be brief.',
      userMessageCount: 1,
      maxOutputTokens: 49,
      clientToolNames: new Set(['weather']),
      acceptsTools: true,
    });
    expect(gemini.describeRequest(ask({ systemInstruction: 'Be brief.' })).systemText).toBe('Be brief.');
  });

  const own = { functionDeclarations: [{ name: 'theirs' }] };
  const mode = (value: string | number) => ({ toolConfig: { functionCallingConfig: { mode: value } } });
  it.each<[JsonObject, boolean]>([
    [{}, true],
    [{ tools: [] }, true],
    [{ tools: null }, true],
    [mode('ANY'), true],
    [mode('VALIDATED'), true],
    [mode('NONE'), false],
    [mode('none'), false],
    [mode(3), false],
    [{ tool_config: { function_calling_config: { mode: 'NONE' } } }, false],
    [{ generationConfig: { candidateCount: 1 } }, true],
    [{ generationConfig: { candidateCount: 2 } }, false],
    [{ generation_config: { candidate_count: 2 } }, false],
    [{ cachedContent: 'cachedContents/1' }, false],
    [{ tools: [{ googleSearch: {} }] }, false],
    [{ tools: [{ code_execution: {} }] }, false],
    [{ tools: [own, { googleSearch: {} }] }, true],
    [{ tools: [{ ...own, urlContext: {} }] }, true],
    [{ generationConfig: { responseMimeType: 'text/plain', responseModalities: ['TEXT'] } }, true],
    [{ generationConfig: { responseMimeType: 'application/json' } }, false],
    [{ generationConfig: { responseMimeType: 'application/json' }, tools: [own] }, true],
    [{ generation_config: { response_json_schema: {} } }, false],
    [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, false],
  ])('with %j takes tools: %s', (fields, accepts) => {
    expect(gemini.describeRequest(ask(fields)).acceptsTools).toBe(accepts);
  });

  it.each<[JsonObject, string]>([
    [{}, 'contents'],
    [{ contents: [] }, 'contents'],
    [{ contents: 'hi' }, 'contents'],
    [{ contents: ['hi'] }, 'contents'],
    [{ contents: [user('x'), 1] }, 'contents'],
    [ask({ tools: 'x' }), 'tools'],
    [ask({ tools: [1] }), 'tools'],
  ])('refuses %j and names %s', (request, field) => {
    expect(() => gemini.describeRequest(request)).toThrow(AppError);
    expect(() => gemini.describeRequest(request)).toThrow(`${field}: an array of`);
  });

  it('keeps the request for a model under another name, since the name is in the URL', () => {
    const request = ask();
    expect(gemini.withModel(request, 'other')).toBe(request);
    expect(gemini.prepareStream(request)).toBe(request);
  });
});

describe('tools', () => {
  const tool = (name: string) =>
    gemini.defineTool({
      name,
      description: `The ${name}`,
      parameters: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
    });

  it('are declared in the dialect of the API, without parameters when there are none', () => {
    expect(tool('a')).toEqual({
      name: 'a',
      description: 'The a',
      parameters: { type: 'OBJECT', properties: { x: { type: 'STRING' } }, required: ['x'] },
    });
    expect(gemini.defineTool({ name: 'a', description: 'A', parameters: { type: 'object', properties: {} } })).toEqual({
      name: 'a',
      description: 'A',
    });
  });

  const names = (request: JsonObject) =>
    (request.tools as JsonObject[]).map((entry) =>
      ((entry.functionDeclarations ?? entry.function_declarations ?? []) as JsonObject[]).map(({ name }) => name),
    );
  const inject = (tools?: JsonObject | JsonObject[]) =>
    gemini.injectTools({ contents: [], ...(tools !== undefined && { tools }) }, [tool('a')], [tool('z')]);

  it('are one entry when the client has none', () => {
    expect(inject()).toMatchObject({ contents: [], tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'z' }] }] });
    expect(names(inject([]))).toEqual([['a', 'z']]);
  });
  it('stand around those of the client, in the entries that it has', () => {
    expect(names(inject([{ functionDeclarations: [{ name: 'b' }, { name: 'c' }] }]))).toEqual([['a', 'b', 'c', 'z']]);
    expect(
      names(inject([{ functionDeclarations: [{ name: 'b' }] }, { googleSearch: {} }, { functionDeclarations: [{ name: 'c' }] }])),
    ).toEqual([['a', 'b'], [], ['c', 'z']]);
  });
  it('keep the spelling and the rest of an entry', () => {
    expect(inject({ function_declarations: { name: 'b' }, urlContext: {} }).tools).toEqual([
      { function_declarations: [tool('a'), { name: 'b' }, tool('z')], urlContext: {} },
    ]);
  });
  it('leave the request of the client as it was', () => {
    const request = { contents: [], tools: [{ functionDeclarations: [{ name: 'b' }] }] };
    gemini.injectTools(request, [tool('a')], []);
    expect(names(request)).toEqual([['b']]);
  });
});

describe('the calling mode', () => {
  const config = (functionCallingConfig: JsonObject, more: JsonObject = {}): JsonObject =>
    ask({ toolConfig: { functionCallingConfig, ...more } });

  it.each<[JsonObject, JsonObject]>([
    [config({ mode: 'ANY', allowedFunctionNames: ['b'] }), config({ mode: 'AUTO' })],
    [config({ mode: 2 }), config({ mode: 'AUTO' })],
    [
      config({ mode: 'ANY', streamFunctionCallArguments: true }, { retrievalConfig: {} }),
      config({ mode: 'AUTO', streamFunctionCallArguments: true }, { retrievalConfig: {} }),
    ],
    [
      ask({ tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['b'] } } }),
      ask({ tool_config: { function_calling_config: { mode: 'AUTO' } } }),
    ],
  ])('that forces a call is released: %j', (request, released) => {
    expect(gemini.releaseToolChoice(request)).toEqual(released);
  });

  it.each([ask(), config({ mode: 'AUTO' }), config({ mode: 'VALIDATED', allowedFunctionNames: ['b'] }), config({ mode: 'NONE' })])(
    'that does not stays: %j',
    (request) => {
      expect(gemini.releaseToolChoice(request)).toBe(request);
    },
  );

  it.each<[JsonObject, JsonObject]>([
    [ask(), config({ mode: 'NONE' })],
    [config({ mode: 'ANY', allowedFunctionNames: ['b'] }), config({ mode: 'NONE' })],
    [
      config({ mode: 'VALIDATED', allowedFunctionNames: ['b'] }, { retrievalConfig: {} }),
      config({ mode: 'NONE' }, { retrievalConfig: {} }),
    ],
    [
      ask({ tool_config: { function_calling_config: { mode: 'AUTO' } } }),
      ask({ tool_config: { function_calling_config: { mode: 'NONE' } } }),
    ],
  ])('forbids tools at a bound: %j', (request, forbidden) => {
    expect(gemini.forbidTools(request)).toEqual(forbidden);
  });
});

describe('readTurn', () => {
  it('reads calls with and without ids and arguments', () => {
    const reply = body([
      thought('hm'),
      signed(call('a'), 's'),
      call('b', { x: 1 }, { id: 'c2' }),
      call('c', {}, { id: '' }),
      text('done'),
      call('d', null),
    ]);
    expect(gemini.readTurn(reply)).toEqual({
      calls: [
        { id: 'omr_call_r1_0', name: 'a', arguments: { readable: true, value: {} } },
        { id: 'c2', name: 'b', arguments: { readable: true, value: { x: 1 } } },
        { id: 'omr_call_r1_2', name: 'c', arguments: { readable: true, value: {} } },
        { id: 'omr_call_r1_3', name: 'd', arguments: { readable: true, value: {} } },
      ],
      cut: false,
      paused: false,
      usage: usage(10),
    });
  });
  it('says where arguments are no object, and takes a call without a name for none', () => {
    expect(gemini.readTurn(body([call('a', [1]), { functionCall: { args: {} } }, { functionCall: 'x' }])).calls).toEqual([
      { id: 'omr_call_r1_0', name: 'a', arguments: { readable: false, error: 'The arguments are not a JSON object' } },
    ]);
  });
  it.each([
    [undefined, false],
    ['STOP', false],
    ['FINISH_REASON_UNSPECIFIED', false],
    ['MAX_TOKENS', true],
    ['SAFETY', true],
    ['RECITATION', true],
    ['MALFORMED_FUNCTION_CALL', true],
    ['UNEXPECTED_TOOL_CALL', true],
    ['TOO_MANY_TOOL_CALLS', true],
    ['MISSING_THOUGHT_SIGNATURE', true],
    ['A_REASON_OF_TOMORROW', true],
  ])('with the reason %s is cut: %s', (reason, cut) => {
    const { candidates, ...rest } = body([call('a')], reason);
    expect(gemini.readTurn(reason === undefined ? body([call('a')], undefined) : { candidates: candidates ?? null, ...rest }).cut).toBe(
      cut,
    );
  });
  it('reads a reply without anything', () => {
    expect(gemini.readTurn({})).toEqual({ calls: [], cut: false, paused: false, usage: undefined });
    expect(gemini.readTurn({ candidates: [{ finishReason: 'SAFETY' }] })).toMatchObject({ calls: [], cut: true });
  });
});

describe('appendToolResults', () => {
  it('gives the reply back as it was, and all results in one content, in call order', () => {
    const parts = [
      thought('hm'),
      signed(text('So.'), 't'),
      signed(call('own_a'), 'sig'),
      call('own_b', { x: 1 }, { id: 'c2' }),
      call('own_a'),
    ];
    const request = gemini.appendToolResults(ask(), body(parts), [
      result('omr_call_r1_0'),
      result('c2', { name: 'own_b', failed: true, content: '{"success":false,"error":"no"}' }),
      result('omr_call_r1_2', { content: 'half a te\n[cut: 9 of 18 bytes left out]' }),
    ]);
    expect(request.contents).toEqual([
      user('x'),
      { role: 'model', parts },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'own_a', response: { output: { of: 'omr_call_r1_0' } } } },
          { functionResponse: { id: 'c2', name: 'own_b', response: { error: { success: false, error: 'no' } } } },
          { functionResponse: { name: 'own_a', response: { output: 'half a te\n[cut: 9 of 18 bytes left out]' } } },
        ],
      },
    ]);
  });
  it('gives a reply a role when it has none, and makes a list of single contents', () => {
    const reply = { candidates: [{ content: { parts: [call('own_a')] } }], responseId: 'r1' };
    expect(gemini.appendToolResults({ contents: user('x') }, reply, [result('omr_call_r1_0')]).contents).toMatchObject([
      user('x'),
      { role: 'model', parts: [call('own_a')] },
      { role: 'user' },
    ]);
  });
});

describe('composeReply', () => {
  const report = {
    rounds: 2,
    executions: [{ id: 'e1', skill: 'own_a@1.0.0', status: 'success', durationMs: 3 }],
    usageByRound: [usage(10), null],
  };
  it('is the last reply with what all rounds said', () => {
    const first = body([thought('hm'), text('One. '), call('own_a')], 'STOP', { createTime: 't1' });
    const last = body([text(''), text('Two.')], 'MAX_TOKENS', { responseId: 'r2', modelVersion: 'other', more: 1 });
    expect(gemini.composeReply({ responses: [first, last], report, inlineResults: [] }, unmarked)).toEqual({
      candidates: [{ content: { role: 'model', parts: [thought('hm'), text('One. '), text('Two.')] }, finishReason: 'MAX_TOKENS' }],
      usageMetadata: {
        promptTokenCount: 20,
        candidatesTokenCount: 2,
        totalTokenCount: 22,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
      },
      responseId: 'r1',
      modelVersion: 'gemini-test',
      createTime: 't1',
      more: 1,
      omniroute: { rounds: 2, executions: report.executions, usage_by_round: report.usageByRound },
    });
  });
  it('has an empty text when nothing is left to show', () => {
    const { candidates } = gemini.composeReply({ responses: [body([call('own_a')])], report, inlineResults: [] }, unmarked);
    expect(candidates).toEqual([{ content: { role: 'model', parts: [text('')] }, finishReason: 'STOP' }]);
  });
  it('adds up details by modality', () => {
    const withDetails = (details: JsonObject[]) => body([text('x')], 'STOP', { usageMetadata: { promptTokensDetails: details } });
    const responses = [
      withDetails([{ modality: 'TEXT', tokenCount: 1 }]),
      withDetails([
        { modality: 'IMAGE', tokenCount: 5 },
        { modality: 'TEXT', tokenCount: 2 },
      ]),
    ];
    expect(gemini.composeReply({ responses, report, inlineResults: [] }, unmarked).usageMetadata).toEqual({
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 3 },
        { modality: 'IMAGE', tokenCount: 5 },
      ],
    });
  });
});

describe('errorBody', () => {
  it.each([
    [400, 'INVALID_ARGUMENT'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
    [409, 'ABORTED'],
    [413, 'INVALID_ARGUMENT'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [502, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
    [599, 'INTERNAL'],
  ])('names status %i %s', (status, name) => {
    expect(gemini.errorBody({ status, code: 'some_code', message: 'Some text' })).toEqual({
      error: {
        code: status,
        message: 'Some text',
        status: name,
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'SOME_CODE', domain: 'omniroute' }],
      },
    });
  });
});
