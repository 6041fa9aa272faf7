import { describe, expect, it } from 'vitest';
import { browser } from '../../../src/skills/builtin/browser.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createSkillContext } from '../../support/skill-context.ts';

const DISABLED = 'Browser automation skill is disabled. This release of the gateway has no browser; read pages with http_request instead.';

describe('browser', () => {
  it.each([
    [{}, 'Missing required field: action'],
    [{ action: null }, 'Missing required field: action'],
    [{ action: 'fly' }, 'Unknown action: fly'],
    [{ action: 'navigate', url: 'nowhere' }, 'url: Invalid URL'],
    [{ action: 'navigate', url: 'https://example.com/' }, DISABLED],
    [{ action: 'click', selector: '#a' }, DISABLED],
    [{ action: 'type', selector: '#a', text: 'x' }, DISABLED],
    [{ action: 'screenshot' }, DISABLED],
    [{ action: 'extract' }, DISABLED],
  ])('answers %j with its error', async (input, message) => {
    await expect(callSkill(browser, input, createSkillContext())).rejects.toEqual(new SkillError(message));
  });
});
