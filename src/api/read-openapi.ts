import type { oas31 } from 'zod-openapi';

export type Schema = oas31.SchemaObject | oas31.ReferenceObject;

export const isReference = (schema: Schema): schema is oas31.ReferenceObject => '$ref' in schema && typeof schema.$ref === 'string';

/** The name of what a reference means. */
export const nameOf = ({ $ref }: { $ref: string }): string => $ref.slice($ref.lastIndexOf('/') + 1);

export interface DocumentedOperation {
  /** In upper case. */
  method: string;
  path: string;
  operation: oas31.OperationObject;
}

/** The operations of a document in its order. */
export const operationsOf = ({ paths = {} }: oas31.OpenAPIObject): DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    (Object.entries(item) as [string, oas31.OperationObject][]).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
