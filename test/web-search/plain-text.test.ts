import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../src/web-search/plain-text.ts';

describe('plainText', () => {
  it.each([
    ['plain', 'plain'],
    ['All about <strong>cats</strong> and <b class="x">dogs</b>', 'All about cats and dogs'],
    ['<span class="highlight">cat</span>s', 'cats'],
    ['one<br/>two<p>three</p><li>four', 'one two three four'],
    ['before<!-- hidden <b> --> after', 'before after'],
    ['<script>alert(1)</script>', 'alert(1)'],
    ['a < b and c > d', 'a < b and c > d'],
    ['x <3 y', 'x <3 y'],
    ['open <b', 'open <b'],
    ['Tom &amp; Jerry &lt;3 &quot;x&quot; &#39;y&#39; &#x27;z&#x27; a&nbsp;b&hellip;', "Tom & Jerry <3 \"x\" 'y' 'z' a b…"],
    ['&unknown; &#99999999; &#x110000; &amp;lt;', '&unknown; &#99999999; &#x110000; &lt;'],
    ['  two\n\n lines\tand\u00a0more ', 'two lines and more'],
    ['\ue000cat\ue001 \u0000\u0007bell \u202Eevil\u202C \u200Bzero \ufefffeff', 'cat bell evil zero feff'],
    ['a\ufe01b\u{E0100}c ❤\ufe0f', 'abc ❤\ufe0f'],
    ['seen\u{E0049}\u{E0067}\u{E006E}', 'seen'],
    ['👩\u200D👩\u200D👧 می\u200Cخواهم', '👩\u200D👩\u200D👧 می\u200Cخواهم'],
    ['lone \uD83D half', 'lone \uFFFD half'],
    ['', ''],
  ])('says %j as %j', (text, plain) => expect(plainText(text, 1_000)).toBe(plain));

  it('cuts between characters', () => {
    expect(plainText('abcdef', 4)).toBe('abc…');
    expect(plainText('abc🐈d', 5)).toBe('abc…');
    expect(plainText('abcd', 4)).toBe('abcd');
  });

  it('is one bounded, well-formed line whatever it is given, and soon done', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('<', '<!--', '<b ', '-->', '&#', '&amp;', '\uD800', '\n'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = plainText(pieces.join(''), 20);
        expect(text.length).toBeLessThanOrEqual(20);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/[\p{Cc}\n]/u);
      }),
    );
    expect(plainText('<!--'.repeat(500_000), 1_000).length).toBeLessThanOrEqual(1_000);
  });
});
