/** The style of `/docs`: its colours follow the reader's scheme. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d5dd, #3a4150); --soft: light-dark(#f5f6f8, #1b1f27); --link: light-dark(#0b57d0, #9ec1ff); }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #12151a); color: light-dark(#1a1d21, #e6e8eb); }
a { color: var(--link); }
a.skip { position: absolute; left: -999rem; }
a.skip:focus { left: 1rem; top: 1rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
nav h2 { font-size: 1rem; margin: 0.9rem 0 0; }
header, main, nav { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
nav ul { columns: 2 26rem; margin: 0.3rem 0; padding: 0; list-style: none; }
nav li { break-inside: avoid; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0.5rem 0; scroll-margin-top: 1rem; }
details:target { border-color: var(--link); }
summary { padding: 0.6rem 0.9rem; cursor: pointer; background: var(--soft); border-radius: 0.5rem; }
details > div { padding: 0.2rem 0.9rem 0.9rem; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0.8rem 0; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-top: 1px solid var(--line); font-weight: 400; }
thead th { font-weight: 600; }
`;
