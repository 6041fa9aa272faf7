import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';
import { callsOf, lastUserContent, partsOf, responsesOf, signCall } from './gemini.ts';
import { fieldOf, objectOf, unknownField } from './gemini-fields.ts';
import { firstFault, type Rule } from './rules.ts';

// What generateContent makes of a transcript: https://ai.google.dev/gemini-api/docs/function-calling and .../thought-signatures

const CONTENT_FIELDS = ['role', 'parts'];
const CALL_FIELDS = ['id', 'name', 'args', 'partialArgs', 'willContinue'];
const RESPONSE_FIELDS = ['id', 'name', 'response', 'willContinue', 'scheduling', 'parts'];
const PART_FIELDS = [
  'text',
  'thought',
  'thoughtSignature',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
];
/** Taken in place of a signature for calls that the model has not made. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

const contentsOf = ({ contents }: JsonObject): JsonObject[] => objectsOf(contents);
const unknownName = (path: string, object: JsonObject, known: readonly string[]): string | undefined => {
  const name = unknownField(object, known);
  return name === undefined ? undefined : `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
};

const contentsAreThere: Rule = (request) =>
  contentsOf(request).length === 0 ? 'GenerateContentRequest.contents: contents is not specified' : undefined;

const rolesAreUserOrModel: Rule = (request) =>
  firstFault(contentsOf(request), ({ role }) =>
    role === undefined || role === 'user' || role === 'model' ? undefined : 'Please use a valid role: user, model.',
  );

const partsAreNotEmpty: Rule = (request) =>
  firstFault(contentsOf(request), (content, index) =>
    partsOf(content).length === 0 ? `GenerateContentRequest.contents[${index}].parts: must not be empty` : undefined,
  );

const fieldsAreKnown: Rule = (request) =>
  firstFault(contentsOf(request), (content, at) => {
    const fault = unknownName(`contents[${at}]`, content, CONTENT_FIELDS);
    if (fault !== undefined) return fault;
    return firstFault(partsOf(content), (part, index) => {
      const path = `contents[${at}].parts[${index}]`;
      return (
        unknownName(path, part, PART_FIELDS) ??
        unknownName(`${path}.function_call`, objectOf(part, 'functionCall') ?? {}, CALL_FIELDS) ??
        unknownName(`${path}.function_response`, objectOf(part, 'functionResponse') ?? {}, RESPONSE_FIELDS)
      );
    });
  });

const argsAndResponsesAreObjects: Rule = (request) =>
  firstFault(contentsOf(request), (content, at) => {
    const hasBadArgs = callsOf(content).some((part) => !isJsonObject(objectOf(part, 'functionCall')?.args ?? {}));
    if (hasBadArgs) return `contents[${at}]: function_call.args has to be an object`;
    return responsesOf(content).every(({ response }) => isJsonObject(response))
      ? undefined
      : `contents[${at}]: function_response.response has to be an object`;
  });

const callTurnsComeAfterTheUser: Rule = (request) => {
  const contents = contentsOf(request);
  return firstFault(contents, (content, index) =>
    callsOf(content).length > 0 && (index === 0 || contents[index - 1]?.role === 'model')
      ? 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
      : undefined,
  );
};

const everyCallTurnIsAnsweredByTheNextContent: Rule = (request) => {
  const contents = contentsOf(request);
  return firstFault(contents, (content, index) => {
    const called = callsOf(content).length;
    const answered = responsesOf(contents[index + 1]).length;
    return called === 0 || called === answered
      ? undefined
      : 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  });
};

const responsesComeAfterACallTurn: Rule = (request) => {
  const contents = contentsOf(request);
  return firstFault(contents, (content, index) =>
    responsesOf(content).length > 0 && callsOf(contents[index - 1]).length === 0
      ? 'Please ensure that function response turn comes immediately after a function call turn.'
      : undefined,
  );
};

const responsesStandAlone: Rule = (request) =>
  firstFault(contentsOf(request), (content, index) => {
    const count = responsesOf(content).length;
    return count > 0 && count < partsOf(content).length
      ? `contents[${index}]: function_response parts may not be mixed with other parts`
      : undefined;
  });

const responsesAreInTheOrderOfTheCalls: Rule = (request) => {
  const contents = contentsOf(request);
  return firstFault(contents, (content, index) => {
    const responses = responsesOf(content);
    const called = callsOf(contents[index - 1]).map((part) => objectOf(part, 'functionCall'));
    const stray = responses.findIndex(({ id, name }, at) => name !== called[at]?.name || id !== called[at]?.id);
    return stray === -1 ? undefined : `contents[${index}].parts[${stray}]: does not answer the function_call at the same place`;
  });
};

/** Judged for the turn that is going on: the first call of each of its steps. */
const callsAreSigned: Rule = (request) => {
  const contents = contentsOf(request);
  const start = lastUserContent(contents);
  return firstFault(contents, (content, index) => {
    const [first] = callsOf(content);
    if (index < start || first === undefined || fieldOf(first, 'thoughtSignature') !== undefined) return undefined;
    return `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`${objectOf(first, 'functionCall')?.name}\`, position ${index + 1}.`;
  });
};

const signaturesAreTheirOwn: Rule = (request) =>
  firstFault(contentsOf(request).flatMap(callsOf), (part) => {
    const signature = fieldOf(part, 'thoughtSignature');
    const expected = [undefined, NO_SIGNATURE, signCall(objectOf(part, 'functionCall') ?? {})];
    return expected.includes(signature as string | undefined) ? undefined : 'Corrupted thought signature.';
  });

export const GEMINI_RULES: readonly Rule[] = [
  contentsAreThere,
  rolesAreUserOrModel,
  fieldsAreKnown,
  partsAreNotEmpty,
  argsAndResponsesAreObjects,
  callTurnsComeAfterTheUser,
  responsesComeAfterACallTurn,
  everyCallTurnIsAnsweredByTheNextContent,
  responsesStandAlone,
  responsesAreInTheOrderOfTheCalls,
  callsAreSigned,
  signaturesAreTheirOwn,
];
