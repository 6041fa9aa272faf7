import type { Command } from 'commander';
import { createProgram } from '../../cli/create-program.ts';
import { createOpenApiDocument, type OpenApiDocument } from '../../src/api/openapi-document.ts';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/env.ts';
import { createLogger } from '../../src/logger.ts';
import type { McpTool } from '../../src/mcp/tool.ts';
import { MCP_TOOLS } from '../../src/mcp/tools.ts';
import { createServices } from '../../src/services.ts';

/** What the texts are about, as the code has it. */
export interface Product {
  document: OpenApiDocument;
  tools: readonly McpTool[];
  program: Command;
}

/** Reads the routes, tools and commands of this release; nothing is started and nothing is asked. */
export function describeProduct(): Product {
  const refuse = () => Promise.reject(new Error('Descriptions need nothing that runs'));
  const services = createServices(readConfig({ LIBSQL_URL: 'http://127.0.0.1' }), {
    fetch: refuse,
    loadQuickJs: refuse,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    random: Math.random,
    log: createLogger(() => {}),
  });
  // As `/openapi.json` has it: plain JSON.
  const document = JSON.parse(JSON.stringify(createOpenApiDocument(createApp(services).routes))) as OpenApiDocument;
  return { document, tools: MCP_TOOLS, program: createProgram(() => {}, 80, refuse) };
}
