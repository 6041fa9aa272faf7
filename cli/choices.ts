/** Values that options and arguments take. A test holds them against the gateway's own, whose modules would bring their schemas with them. */
export const MODES = ['on', 'off', 'auto'];
export const SOURCES = ['builtin', 'skillsmp', 'skillssh', 'local'];
export const SCOPES = ['chat', 'read:skills', 'write:skills', 'execute:skills', 'manage'];
export const MARKETPLACES = ['skillsmp', 'skillssh'];
