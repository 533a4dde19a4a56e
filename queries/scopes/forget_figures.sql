-- Figures of single functions give way to those of groups.
DROP VIEW temp.figures;
