-- Risky passages of an installed SKILL.md, as JSON: [{risk, line, text}].
ALTER TABLE skills ADD COLUMN risk_findings TEXT NOT NULL DEFAULT '[]';
