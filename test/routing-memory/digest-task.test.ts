import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestTask, MAX_DIGEST_WORDS } from '../../src/routing-memory/digest-task.ts';

describe('digestTask', () => {
  it.each([
    ['Translate the contract from German to English, please translate it', ['contract', 'english', 'german', 'translate']],
    ['TRANSLATE Übersetzung', ['translate', 'übersetzung']],
    ['parse utf8 and mp3 files with sha256', ['files', 'mp3', 'parse', 'sha256', 'utf8']],
    ['the and of to', []],
    ['', []],
    ['   \n\t', []],
  ])('keeps the content words of %j', (text, words) => {
    const digest = digestTask(text);
    for (const word of words) expect(digest).toContain(word);
    if (words.length === 0) expect(digest).toEqual([]);
    expect(digest).toEqual([...new Set(digest)].sort());
  });

  it('finds the words of scripts without spaces', () => {
    expect(digestTask('请翻译这份合同').length).toBeGreaterThan(0);
  });

  it.each([
    ['mail ada.lovelace@example.com about rockets', ['lovelace', 'ada', 'example']],
    ['fetch https://internal.example/secret/path rockets', ['internal', 'path', 'https']],
    ['read /home/ada/diary.txt about rockets', ['home', 'ada', 'diary']],
    ['my password is hunterelf and rockets', ['hunterelf', 'password']],
    ['password: correcthorse rockets', ['correcthorse']],
    ['API key = abcdefgh rockets', ['abcdefgh']],
    ['Authorization: Bearer abcdefgh rockets', ['abcdefgh', 'bearer']],
    ['{"token": "abcdefgh"} rockets', ['abcdefgh']],
    ['sk-proj-AbCdEf1234567890 rockets', ['proj', 'abcdef1234567890']],
    ['omr_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ rockets', ['abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq', 'omr']],
    ['AKIAIOSFODNN7EXAMPLE rockets', ['akiaiosfodnn7example']],
    ['card 4111 1111 1111 1111 rockets', ['4111', '1111']],
    ['call 5551234567 rockets', ['5551234567']],
    ['hunter2x9 rockets', ['hunter2x9']],
    [`${'a'.repeat(60)} rockets`, ['a'.repeat(60)]],
  ])('keeps nothing private of %j', (text, gone) => {
    const digest = digestTask(text);
    expect(digest).toContain('rockets');
    for (const word of gone) expect(digest).not.toContain(word);
  });

  it('is bounded, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
        const digest = digestTask(text);
        expect(digest.length).toBeLessThanOrEqual(MAX_DIGEST_WORDS);
        for (const word of digest) {
          expect(word.length).toBeLessThanOrEqual(24);
          expect(word).not.toMatch(/\s|"/);
        }
      }),
    );
    expect(digestTask('word '.repeat(1_000_000))).toEqual(['word']);
  });
});
