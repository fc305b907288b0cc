-- A fragment: a release where nobody waits. What follows is for the others.
-- after: semaphore_release.lua
if not is_watched then return score >= now and 1 or 0 end
