import { isJsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { declarationsOf } from './gemini.ts';
import { fieldOf, objectOf, unknownField } from './gemini-fields.ts';
import { firstFault, firstRepeated, isEmptyList, type Rule } from './rules.ts';

// What generateContent makes of tools: https://ai.google.dev/api/caching#Tool and https://ai.google.dev/api/caching#Schema

const MAX_DECLARATIONS = 512;
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];
const DECLARATION_FIELDS = ['name', 'description', 'parameters', 'parametersJsonSchema', 'response', 'responseJsonSchema', 'behavior'];
const SCHEMA_FIELDS = [
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'default',
  'example',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'propertyOrdering',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'anyOf',
];

const declarationListsAreNotEmpty: Rule = ({ tools }) =>
  firstFault(objectsOf(tools), (tool, index) =>
    isEmptyList(fieldOf(tool, 'functionDeclarations')) ? `tools[${index}].function_declarations: must have one at least` : undefined,
  );

const declarationsAreWellFormed: Rule = (request) => {
  const declarations = declarationsOf(request);
  if (declarations.length > MAX_DECLARATIONS) return `tools: at most ${MAX_DECLARATIONS} function declarations`;
  return firstFault(declarations, (declaration, index) => {
    const path = `tools[0].function_declarations[${index}]`;
    const unknown = unknownField(declaration, DECLARATION_FIELDS);
    if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}" at '${path}': Cannot find field.`;
    if (!FUNCTION_NAME.test(String(declaration.name))) return `GenerateContentRequest.${path}.name: Invalid function name.`;
    return declaration.parameters !== undefined && fieldOf(declaration, 'parametersJsonSchema') !== undefined
      ? `GenerateContentRequest.${path}: parameters and parameters_json_schema are mutually exclusive`
      : undefined;
  });
};

const functionNamesAreUnique: Rule = (request) => {
  const repeated = firstRepeated(declarationsOf(request).map(({ name }) => name));
  return repeated === undefined ? undefined : `Duplicate function declaration found: ${repeated}`;
};

function schemaFault(schema: JsonValue | undefined, path: string): string | undefined {
  if (!isJsonObject(schema)) return `${path}: has to be a schema`;
  const unknown = unknownField(schema, SCHEMA_FIELDS);
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}" at '${path}': Cannot find field.`;
  const alternatives = objectsOf(fieldOf(schema, 'anyOf'));
  const type = typeof schema.type === 'string' ? schema.type.toUpperCase() : schema.type;
  if (alternatives.length === 0 && !TYPES.includes(type as string))
    return `Invalid value at '${path}.type': ${JSON.stringify(schema.type ?? null)}`;
  if (schema.enum !== undefined && !(Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string'))) {
    return `Invalid value at '${path}.enum' (TYPE_STRING)`;
  }
  if (type === 'ARRAY' && schema.items === undefined) return `${path}.items: missing field.`;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const absent = (Array.isArray(schema.required) ? schema.required : []).find((name) => !(String(name) in properties));
  if (absent !== undefined) return `${path}.required: property is not defined: ${absent}`;
  return (
    (schema.items === undefined ? undefined : schemaFault(schema.items, `${path}.items`)) ??
    firstFault(alternatives, (alternative, index) => schemaFault(alternative, `${path}.any_of[${index}]`)) ??
    firstFault(Object.entries(properties), ([name, property]) => schemaFault(property, `${path}.properties['${name}']`))
  );
}

const parametersAreInItsDialect: Rule = (request) =>
  firstFault(declarationsOf(request), ({ parameters }, index) => {
    if (parameters === undefined) return undefined;
    const path = `tools[0].function_declarations[${index}].parameters`;
    const isEmpty = isJsonObject(parameters) && Object.keys(isJsonObject(parameters.properties) ? parameters.properties : {}).length === 0;
    return isEmpty ? `GenerateContentRequest.${path}.properties: should be non-empty for OBJECT type` : schemaFault(parameters, path);
  });

const callingConfigFits: Rule = (request) => {
  const config = objectOf(objectOf(request, 'toolConfig') ?? {}, 'functionCallingConfig');
  if (config === undefined) return undefined;
  const declarations = declarationsOf(request);
  if (declarations.length === 0) return 'Function calling config is set without function_declarations.';
  const allowed = fieldOf(config, 'allowedFunctionNames');
  if (allowed === undefined) return undefined;
  if (config.mode !== 'ANY' && config.mode !== 'VALIDATED')
    return 'allowed_function_names should only be set in the modes ANY and VALIDATED.';
  const unknown = (Array.isArray(allowed) ? allowed : []).find((name) => !declarations.some((declaration) => declaration.name === name));
  return unknown === undefined ? undefined : `allowed_function_names: ${unknown} is not declared`;
};

export const GEMINI_TOOL_RULES: readonly Rule[] = [
  declarationListsAreNotEmpty,
  declarationsAreWellFormed,
  functionNamesAreUnique,
  parametersAreInItsDialect,
  callingConfigFits,
];
