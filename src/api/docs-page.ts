import { html, raw } from 'hono/html';
import type { oas31 } from 'zod-openapi';
import { encodeBase64 } from '../base64.ts';
import { type Html, inline, memberRow, memberTable, schemaBlock } from './docs-schema.ts';
import { DOCS_STYLE } from './docs-style.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { type DocumentedOperation, operationsOf, type Schema } from './read-openapi.ts';

/** Allows the page's own style and nothing else; the page needs no script. */
export async function contentSecurityPolicy(): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(DOCS_STYLE));
  const style = `'sha256-${encodeBase64(new Uint8Array(digest))}'`;
  return `default-src 'none'; style-src ${style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Every operation of our document has an id; the type leaves that open. */
const idOf = ({ method, path, operation }: DocumentedOperation): string => operation.operationId ?? `${method} ${path}`;

/** The part of CommonMark that the document's texts use: paragraphs and code. */
function prose(text = ''): Html {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return html`${paragraphs.map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

function parameters({ parameters = [] }: oas31.OperationObject): Html | undefined {
  const rows = (parameters as oas31.ParameterObject[]).map((parameter) =>
    memberRow(
      parameter.name,
      { ...(parameter.schema as oas31.SchemaObject), ...(parameter.description !== undefined && { description: parameter.description }) },
      parameter.required ? 'required' : '',
      parameter.in,
    ),
  );
  return rows.length === 0 ? undefined : memberTable('Parameters', rows);
}

const contentBlocks = (content: oas31.ContentObject | undefined, caption: string, isSent: boolean): Html[] =>
  Object.entries(content ?? {}).map(([type, media]) =>
    schemaBlock((media as { schema?: Schema }).schema ?? {}, `${caption} (${type})`, isSent),
  );

function responses({ responses = {} }: oas31.OperationObject): Html {
  const entries = Object.entries(responses) as [string, oas31.ResponseObject][];
  const successes = entries.filter(([, { description }]) => !description.startsWith('`'));
  const errors = entries.filter(([, { description }]) => description.startsWith('`'));
  return html`${successes.flatMap(([status, { description, content }]) => contentBlocks(content, `${status} ${description}`, false))}
    ${errors.length === 0 ? '' : html`<p>Errors:</p><ul>${errors.map(([status, { description }]) => html`<li>${status} ${inline(description)}</li>`)}</ul>`}`;
}

function operationBlock(documented: DocumentedOperation): Html {
  const { method, path, operation } = documented;
  const { content } = (operation.requestBody ?? {}) as oas31.RequestBodyObject;
  return html`<details open id="${idOf(documented)}">
  <summary><span class="method">${method}</span> <code>${path}</code> ${operation.summary}</summary>
  <div>${prose(operation.description)}${parameters(operation)}${contentBlocks(content, 'Body', true)}${responses(operation)}</div>
</details>`;
}

/** The document as one page for a reader, which needs neither script nor anything from elsewhere. */
export function renderDocsPage(document: OpenApiDocument): Html {
  const operations = operationsOf(document);
  const sections = (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const found = operations.filter(({ operation }) => operation.tags?.includes(name));
    return found.length === 0 ? [] : [{ name, description, found }];
  });
  const schemas = Object.entries(document.components?.schemas ?? {});
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title}: API</title>
<style>${raw(DOCS_STYLE)}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>${document.info.title} <small>${document.info.version}</small></h1>
${prose(document.info.description)}
<p>The same as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
</header>
<nav aria-label="Operations">
${sections.map(({ name, found }) => html`<h2>${name}</h2><ul>${found.map((each) => html`<li><a href="#${idOf(each)}">${each.method} <code>${each.path}</code></a></li>`)}</ul>`)}
</nav>
<main id="operations">
${sections.map(({ name, description, found }) => html`<section aria-label="${name}"><h2>${name}</h2>${prose(description)}${found.map(operationBlock)}</section>`)}
<section aria-label="Schemas"><h2>Schemas</h2>
${schemas.map(([name, schema]) => html`<details open id="schema-${name}"><summary><code>${name}</code></summary><div>${schemaBlock(schema as Schema, name, false)}</div></details>`)}
</section>
</main>
</body>
</html>`;
}
