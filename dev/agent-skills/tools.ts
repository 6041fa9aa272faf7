import type { Schema } from '../../src/api/read-openapi.ts';
import type { McpTool } from '../../src/mcp/tool.ts';
import { memberLines, outlineOf } from './describe-schema.ts';

function toolBlock({ name, description, scope, inputSchema, outputSchema }: McpTool): string {
  const inputs = memberLines(inputSchema as Schema);
  return [
    `### ${name}`,
    `${description} Needs ${scope === undefined ? 'an API key' : `a key with \`${scope}\``}.`,
    inputs.length === 0 ? 'Takes no arguments.' : inputs.join('\n'),
    `Answers \`${outlineOf(outputSchema as Schema)}\`.`,
  ].join('\n\n');
}

/** The part of a SKILL.md that tells what the tools of the MCP server take and answer. */
export const renderTools = (tools: readonly McpTool[]): string => ['## Tools', ...tools.map(toolBlock)].join('\n\n');
