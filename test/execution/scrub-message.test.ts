import { describe, expect, it } from 'vitest';
import { scrubFault, scrubMessage } from '../../src/execution/scrub-message.ts';

const KEY = `omr_${'aB3-_'.repeat(8)}xyz`;

describe('scrubMessage', () => {
  it.each([
    ['a gateway key', `Refused for ${KEY}`, 'Refused for [secret]'],
    ['a bearer token', 'got 401 for Authorization: Bearer abc.def-ghi123', 'got 401 for Authorization: Bearer [secret]'],
    ['an OpenAI key', 'Incorrect API key provided: sk-proj-abcdefghij1234567890.', 'Incorrect API key provided: [secret].'],
    ['a JWT', 'bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln here', 'bad [secret] here'],
    [
      'a key in a query',
      'GET https://api.example.com/v1?api_key=hunter2hunter2&q=1',
      'GET https://api.example.com/v1?api_key=[secret]&q=1',
    ],
    ['a password in a URL', 'connect libsql://user:pa55word@db.example.com/x', 'connect libsql://[secret]@db.example.com/x'],
    ['a quoted password', '{"password":"letmein123"}', '{"password":"[secret]"}'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- end', '[secret] end'],
    ['a POSIX path', "ENOENT: no such file, open '/home/ann/app/data.csv'", "ENOENT: no such file, open '[path]'"],
    ['a path with a line', 'Error in /srv/app/index.js:10:5', 'Error in [path]'],
    ['a file URL', 'Cannot find module file:///srv/app/index.js', 'Cannot find module [path]'],
    ['a Windows path', 'open C:\\Users\\ann\\data.csv failed', 'open [path] failed'],
    ['a stack trace', 'boom\n    at run (/srv/app/run.ts:1:2)\n    at async main.ts:3:4', 'boom'],
    ['a Python trace', 'Traceback\n  File "/usr/lib/x.py", line 3, in f\nValueError: no', 'Traceback\nValueError: no'],
  ])('takes out %s', (_, text, expected) => {
    expect(scrubMessage(text)).toBe(expected);
  });

  it.each([
    'Missing required field: path',
    'Skill file not found: notes/2026/plan.txt',
    'Unsupported encoding. Use utf8 or base64.',
    'Sandbox image is not allowed: registry.example.com/team/node:22',
    'Could not reach https://api.example.com/v1/items',
    '#/city/name: expected a string and/or a number',
    'Blocked private or local URL',
    'Timed out after 30000 ms',
    'Redirect blocked (302)',
    'Missing required field: token',
  ])('leaves %j as it is', (text) => {
    expect(scrubMessage(text)).toBe(text);
  });

  it('bounds the length without splitting a character', () => {
    const scrubbed = scrubMessage('😀'.repeat(5_000));
    expect(scrubbed.length).toBeLessThanOrEqual(2_000);
    expect(scrubbed.endsWith('…')).toBe(true);
    expect(scrubbed.isWellFormed()).toBe(true);
  });
});

describe('scrubFault', () => {
  it('keeps the path that a fault names and takes out secrets', () => {
    expect(scrubFault(`/filters/0/since: not a date, Bearer ${KEY}`)).toBe('/filters/0/since: not a date, Bearer [secret]');
  });
});
