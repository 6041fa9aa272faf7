import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI, type Part } from '@google/genai';
import OpenAI from 'openai';
import type { JsonObject } from '../../src/json.ts';

/** What a client gets to see of one reply. */
export interface SeenReply {
  text: string;
  /** Calls of its own tools, in order. */
  calls: { name: string; input: unknown }[];
}

/** A conversation that one client has, with its history as the format wants it. */
export interface Session {
  say(text: string): Promise<SeenReply>;
  /** Answers the calls of the last reply, in order. */
  answer(...results: string[]): Promise<SeenReply>;
}

export interface SessionOptions {
  /** Of the gateway. */
  url: string;
  apiKey: string;
  model: string;
  streamed: boolean;
  /** JSON Schema of the parameters of each of the client's tools. */
  tools: Record<string, JsonObject & { type: 'object' }>;
}

export type OpenSession = (options: SessionOptions) => Session;

const openChat: OpenSession = ({ url, apiKey, model, streamed, tools }) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  let pending: string[] = [];
  async function ask(): Promise<SeenReply> {
    const params = {
      model,
      messages,
      tools: Object.entries(tools).map(([name, parameters]) => ({ type: 'function' as const, function: { name, parameters } })),
    };
    const completion = streamed
      ? await client.chat.completions.stream(params).finalChatCompletion()
      : await client.chat.completions.create(params);
    const { content, tool_calls: made = [] } = completion.choices[0]?.message ?? {};
    const calls = made.flatMap((call) => (call.type === 'function' ? [call] : []));
    messages.push({
      role: 'assistant',
      content: content ?? null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, type, function: { name, arguments: text } }) => ({ id, type, function: { name, arguments: text } })),
      }),
    });
    pending = calls.map(({ id }) => id);
    return { text: content ?? '', calls: calls.map((call) => ({ name: call.function.name, input: JSON.parse(call.function.arguments) })) };
  }
  return {
    say(content) {
      messages.push({ role: 'user', content });
      return ask();
    },
    answer(...results) {
      messages.push(
        ...pending.map((id, index) => ({ role: 'tool' as const, tool_call_id: id, content: JSON.stringify({ output: results[index] }) })),
      );
      return ask();
    },
  };
};

/** `isKept`: the provider keeps what was said, and is told only what is new. */
const openResponses =
  (isKept: boolean): OpenSession =>
  ({ url, apiKey, model, streamed, tools }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    let input: OpenAI.Responses.ResponseInput = [];
    let previous: string | undefined;
    let pending: string[] = [];
    async function ask(): Promise<SeenReply> {
      const params: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
        model,
        input,
        tools: Object.entries(tools).map(([name, parameters]) => ({ type: 'function', name, parameters, strict: false })),
        ...(isKept ? { previous_response_id: previous ?? null } : { store: false, include: ['reasoning.encrypted_content'] }),
      };
      const response = streamed
        ? await client.responses.stream(params as Parameters<OpenAI['responses']['stream']>[0]).finalResponse()
        : await client.responses.create(params);
      previous = response.id;
      input = isKept ? [] : [...input, ...(JSON.parse(JSON.stringify(response.output)) as OpenAI.Responses.ResponseInput)];
      const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      pending = calls.map((call) => call.call_id);
      return { text: response.output_text, calls: calls.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) })) };
    }
    return {
      say(content) {
        input.push({ role: 'user', content });
        return ask();
      },
      answer(...results) {
        const outputs = pending.map((id, index) => ({ call_id: id, output: JSON.stringify({ output: results[index] }) }));
        input.push(...outputs.map((output) => ({ type: 'function_call_output' as const, ...output })));
        return ask();
      },
    };
  };

const openMessages =
  (isThinking: boolean): OpenSession =>
  ({ url, apiKey, model, streamed, tools }) => {
    const client = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    let pending: string[] = [];
    async function ask(): Promise<SeenReply> {
      const params: Anthropic.MessageCreateParamsNonStreaming = {
        model,
        max_tokens: 4_096,
        messages,
        tools: Object.entries(tools).map(([name, schema]) => ({ name, input_schema: schema })),
        ...(isThinking && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
      };
      const message = streamed ? await client.messages.stream(params).finalMessage() : await client.messages.create(params);
      messages.push({ role: 'assistant', content: message.content });
      const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      pending = calls.map(({ id }) => id);
      return {
        text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: calls.map(({ name, input }) => ({ name, input })),
      };
    }
    return {
      say(content) {
        messages.push({ role: 'user', content });
        return ask();
      },
      answer(...results) {
        messages.push({
          role: 'user',
          content: pending.map((id, index) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: JSON.stringify({ output: results[index] }),
          })),
        });
        return ask();
      },
    };
  };

const openGemini =
  (isThinking: boolean): OpenSession =>
  ({ url, apiKey, model, streamed, tools }) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    const contents: Content[] = [];
    let pending: Part[] = [];
    async function ask(): Promise<SeenReply> {
      const functionDeclarations = Object.entries(tools).map(([name, schema]) => ({ name, parametersJsonSchema: schema }));
      const config = { tools: [{ functionDeclarations }], ...(isThinking && { thinkingConfig: { includeThoughts: true } }) };
      const parts: Part[] = [];
      if (streamed) {
        for await (const chunk of await client.models.generateContentStream({ model, contents, config }))
          parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      } else {
        const reply = await client.models.generateContent({ model, contents, config });
        parts.push(...(reply.candidates?.[0]?.content?.parts ?? []));
      }
      contents.push({ role: 'model', parts });
      pending = parts.filter((part) => part.functionCall !== undefined);
      return {
        text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
        calls: pending.map(({ functionCall }) => ({ name: functionCall?.name ?? '', input: functionCall?.args ?? {} })),
      };
    }
    return {
      say(text) {
        contents.push({ role: 'user', parts: [{ text }] });
        return ask();
      },
      answer(...results) {
        const parts = pending.map(({ functionCall: { id, name } = {} }, index) => ({
          functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: results[index] } },
        }));
        contents.push({ role: 'user', parts });
        return ask();
      },
    };
  };

/** Conversations in all wire formats, each by the official client, in the ways in which a format keeps what was said. */
export const SESSIONS: Readonly<Record<string, OpenSession>> = {
  'chat completions': openChat,
  'stored responses': openResponses(true),
  'responses that carry their reasoning': openResponses(false),
  messages: openMessages(false),
  'messages with thinking': openMessages(true),
  generateContent: openGemini(false),
  'generateContent with thoughts': openGemini(true),
};
