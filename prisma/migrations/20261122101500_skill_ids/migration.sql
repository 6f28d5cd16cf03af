-- Owner and repository of a skill's id are small from now on: hosts of repositories do not tell upper from lower case, and
-- a run was found only by the case in which its caller had written them. Paths stay as they are.
UPDATE "runs"
   SET "skill" = lower(split_part("skill", ':', 1)) || substr("skill", strpos("skill", ':'))
 WHERE split_part("skill", ':', 1) <> lower(split_part("skill", ':', 1));
