export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Each gives the words up to the cursor, as they stand there and never evaluated, to `omniroute-edge complete --`. */
const SCRIPTS: Record<Shell, string> = {
  bash: `_omniroute_edge() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(omniroute-edge complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _omniroute_edge omniroute-edge
`,
  zsh: `#compdef omniroute-edge
_omniroute_edge() {
  local line
  local -a suggestions
  for line in "\${(@f)$(omniroute-edge complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && suggestions+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#suggestions} )); then _describe 'omniroute-edge' suggestions; else _files; fi
}
if [ "\${funcstack[1]}" = _omniroute_edge ]; then _omniroute_edge "$@"; else compdef _omniroute_edge omniroute-edge; fi
`,
  fish: `function __omniroute_edge_suggest
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found (omniroute-edge complete -- $before[2..] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c omniroute-edge -f -a '(__omniroute_edge_suggest)'
`,
};

/** What makes a shell complete the command. */
export const shellScript = (shell: Shell): string => SCRIPTS[shell];
