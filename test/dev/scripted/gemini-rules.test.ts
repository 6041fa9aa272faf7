import { describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../../src/json.ts';
import { ask } from './ask.ts';

const PATH = '/v1beta/models/scripted-test:generateContent';
const SKIP = 'skip_thought_signature_validator';
const parameters = { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] };
const declare = (...declarations: object[]) => ({ tools: [{ functionDeclarations: declarations }] });
const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const question = user({ text: 'call weather\ncall now' });
const call = (name: string, more: object = {}) => ({ functionCall: { name }, ...more });
const signed = (name: string) => call(name, { thoughtSignature: SKIP });
const response = (name: string, more: object = {}) => ({ functionResponse: { name, response: { output: 'rain' }, ...more } });
const send = (more: object) => ask(PATH, { contents: [question], ...declare({ name: 'weather', parameters }, { name: 'now' }), ...more });
const refusal = (message: string) => ({ status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } });

const steps = (...contents: object[]) => ({ contents: [question, ...contents] });
const answers = user(response('weather'), response('now'));
const NUMBER =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
const unknown = (name: string, at: string) => `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`;

describe('generateContent', () => {
  it.each([
    [
      'several steps, each with one signature',
      steps(model(signed('weather'), call('now')), answers, model({ text: 'Hm.' }, signed('now')), user(response('now'))),
    ],
    ['an unsigned call before the user spoke again', steps(model(call('now')), user(response('now')), model({ text: 'x' }), question)],
    [
      'ids that match',
      steps(model({ functionCall: { id: '1', name: 'now' }, thoughtSignature: SKIP }), user(response('now', { id: '1' }))),
    ],
    [
      'snake case',
      {
        contents: [
          question,
          model({ function_call: { name: 'now' }, thought_signature: SKIP }),
          user({ function_response: { name: 'now', response: {} } }),
        ],
      },
    ],
    ['parameters as JSON Schema', declare({ name: 'a', parametersJsonSchema: { type: 'object', additionalProperties: false } })],
    ["tools of Google's own", { tools: [{ googleSearch: {} }] }],
  ])('takes %s', async (_, more) => {
    expect((await send(more)).status).toBe(200);
  });

  it.each([
    ['no contents', { contents: [] }, 'GenerateContentRequest.contents: contents is not specified'],
    ['another role', { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, 'Please use a valid role: user, model.'],
    ['no parts', { contents: [user()] }, 'GenerateContentRequest.contents[0].parts: must not be empty'],
    ['an unknown field of a part', { contents: [user({ text: 'x', id: 1 })] }, unknown('id', 'contents[0].parts[0]')],
    ['an unknown field of a content', { contents: [{ ...question, id: 1 }] }, unknown('id', 'contents[0]')],
    [
      'an unknown field of a call',
      steps(model({ functionCall: { name: 'now', skill: 1 } })),
      unknown('skill', 'contents[1].parts[0].function_call'),
    ],
    [
      'an unknown field of a response',
      steps(model(signed('now')), user(response('now', { error: 1 }))),
      unknown('error', 'contents[2].parts[0].function_response'),
    ],
    [
      'args that are text',
      steps(model({ functionCall: { name: 'now', args: '{}' } })),
      'contents[1]: function_call.args has to be an object',
    ],
    [
      'a response that is text',
      steps(model(signed('now')), user(response('now', { response: 'x' }))),
      'contents[2]: function_response.response has to be an object',
    ],
    [
      'calls of a model that was not asked',
      steps(model({ text: 'x' }), model(signed('now')), user(response('now'))),
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    ],
    [
      'a response without a call',
      steps(user(response('now'))),
      'Please ensure that function response turn comes immediately after a function call turn.',
    ],
    ['fewer responses than calls', steps(model(signed('weather'), call('now')), user(response('weather'))), NUMBER],
    ['more responses than calls', steps(model(signed('now')), user(response('now'), response('now'))), NUMBER],
    [
      'one content for each response',
      steps(model(signed('weather'), call('now')), user(response('weather')), user(response('now'))),
      'Please ensure that function response turn comes immediately after a function call turn.',
    ],
    ['a call at the end', steps(model(signed('now'))), NUMBER],
    [
      'responses and text in one content',
      steps(model(signed('now')), user(response('now'), { text: 'x' })),
      'contents[2]: function_response parts may not be mixed with other parts',
    ],
    [
      'responses in another order',
      steps(model(signed('now'), call('weather')), answers),
      'contents[2].parts[0]: does not answer the function_call at the same place',
    ],
    [
      'a response with another id',
      steps(model(signed('now')), user(response('now', { id: '1' }))),
      'contents[2].parts[0]: does not answer the function_call at the same place',
    ],
    [
      'a step without its signature',
      steps(model(signed('now')), user(response('now')), model(call('weather'), signed('now')), answers),
      'Function call is missing a thought_signature in functionCall parts. Additional data, function call `weather`, position 4.',
    ],
    ['a made-up signature', steps(model(call('now', { thoughtSignature: 'x' })), user(response('now'))), 'Corrupted thought signature.'],
  ])('refuses %s', async (_, more, message) => {
    expect(await send(more)).toEqual(refusal(message));
  });

  const first = 'tools[0].function_declarations[0]';
  const schema = (more: object) => declare({ name: 'a', parameters: { type: 'object', properties: { x: { type: 'string' } }, ...more } });
  const property = (x: object) => schema({ properties: { x } });
  const x = `${first}.parameters.properties['x']`;
  it.each([
    ['no declarations in a list', declare(), 'tools[0].function_declarations: must have one at least'],
    [
      '513 declarations',
      declare(...Array.from({ length: 513 }, (_, index) => ({ name: `t${index}` }))),
      'tools: at most 512 function declarations',
    ],
    ['an unknown field', declare({ name: 'a', strict: true }), unknown('strict', first)],
    ['a bad name', declare({ name: 'a@1.0.0' }), `GenerateContentRequest.${first}.name: Invalid function name.`],
    ['a name that is there twice', declare({ name: 'a' }, { name: 'a' }), 'Duplicate function declaration found: a'],
    [
      'two kinds of parameters',
      declare({ name: 'a', parameters, parametersJsonSchema: {} }),
      `GenerateContentRequest.${first}: parameters and parameters_json_schema are mutually exclusive`,
    ],
    [
      'an object without properties',
      declare({ name: 'a', parameters: { type: 'object', properties: {} } }),
      `GenerateContentRequest.${first}.parameters.properties: should be non-empty for OBJECT type`,
    ],
    ['JSON Schema in its parameters', schema({ additionalProperties: false }), unknown('additionalProperties', `${first}.parameters`)],
    ['JSON Schema below', property({ type: 'object', $ref: '#' }), unknown('$ref', x)],
    ['a list of types', property({ type: ['string', 'null'] }), `Invalid value at '${x}.type': ["string","null"]`],
    ['no type', property({ description: 'x' }), `Invalid value at '${x}.type': null`],
    ['numbers to choose from', property({ type: 'integer', enum: [1] }), `Invalid value at '${x}.enum' (TYPE_STRING)`],
    ['a list of nothing', property({ type: 'array' }), `${x}.items: missing field.`],
    ['a fault in items', property({ type: 'array', items: {} }), `Invalid value at '${x}.items.type': null`],
    ['a fault in an alternative', property({ anyOf: [{ type: 'string' }, { const: 1 }] }), unknown('const', `${x}.any_of[1]`)],
    ['a required property that is not there', schema({ required: ['y'] }), `${first}.parameters.required: property is not defined: y`],
    [
      'a mode without declarations',
      { tools: undefined, toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
      'Function calling config is set without function_declarations.',
    ],
    [
      'allowed names in AUTO',
      { toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['now'] } } },
      'allowed_function_names should only be set in the modes ANY and VALIDATED.',
    ],
    [
      'an allowed name that is not declared',
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['x'] } } },
      'allowed_function_names: x is not declared',
    ],
  ])('refuses tools with %s', async (_, more, message) => {
    expect(await send(more)).toEqual(refusal(message));
  });

  it('takes its own signature back, on the part that it gave it with', async () => {
    const { body } = await send({ contents: [user({ text: 'call weather {"city":"Oslo"}\ncall now' })] });
    const content = objectsOf(body.candidates)[0]?.content as JsonObject;
    const [weather, now] = objectsOf(content.parts) as [JsonObject, JsonObject];
    const follow = (...parts: JsonObject[]) => send(steps(model(...parts), answers));
    expect((await follow(weather, now)).status).toBe(200);
    const { thoughtSignature = '', ...unsigned } = weather;
    expect(await follow({ ...weather, functionCall: { name: 'weather' } }, now)).toEqual(refusal('Corrupted thought signature.'));
    expect(await follow(unsigned, { ...now, thoughtSignature })).toEqual(
      refusal('Function call is missing a thought_signature in functionCall parts. Additional data, function call `weather`, position 2.'),
    );
  });

  it('cannot write a call whose arguments are no object', async () => {
    const { body } = await send({ contents: [user({ text: 'call now {broken' })] });
    expect(body.candidates).toEqual([{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call', index: 0 }]);
  });

  it('puts an error into an array where the answer would have been one', async () => {
    const message = 'GenerateContentRequest.contents: contents is not specified';
    const path = '/v1beta/models/scripted-test:streamGenerateContent';
    expect((await ask(path, { contents: [] })).body).toMatchObject([{ error: { code: 400, message } }]);
    expect((await ask(`${path}?alt=sse`, { contents: [] })).body).toMatchObject({ error: { code: 400, message } });
  });

  it('knows no other models and no other methods', async () => {
    expect(await ask('/v1beta/models/gemini:generateContent', { contents: [question] })).toEqual({
      status: 404,
      body: { error: { code: 404, message: 'No model named gemini', status: 'NOT_FOUND' } },
    });
    expect((await ask('/v1beta/models/scripted-test:embedContent', {})).status).toBe(404);
  });
});
