import type { BuiltinSkill } from '../define.ts';
import { browser } from './browser.ts';
import { evalCode } from './eval-code.ts';
import { executeCommand } from './execute-command.ts';
import { fileRead } from './file-read.ts';
import { fileWrite } from './file-write.ts';
import { httpRequest } from './http-request.ts';
import { webSearch } from './web-search.ts';

/** The skills that the gateway brings along. */
export const builtinSkills: readonly BuiltinSkill[] = [fileRead, fileWrite, httpRequest, webSearch, evalCode, executeCommand, browser];
