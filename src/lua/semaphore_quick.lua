-- A fragment: a grant where nobody waits, there is room, and nothing is to be put in order first. What follows is for the others.
-- after: semaphore_grant.lua
if not is_watched and limit == asked and (card > 0 or used == 0) and (own or used + weight <= limit) then return grant() end
