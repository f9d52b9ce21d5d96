-- What RedisStore does within one bucket, each operation one atomic step. redis_layout.py tells what the keys hold.
-- KEYS: the bucket's meta hash, and a key that never exists: while a cluster moves the bucket's slot key by key, some
-- are here and some there, and naming a missing key makes the server answer TRYAGAIN instead of running on a half.
-- ARGV: the operation, then its arguments.

local call, meta = redis.call, KEYS[1]
local base = string.sub(meta, 1, -5)
local entries, left, marks = base .. 'entries', base .. 'left', base .. 'marks'
local expiry, learned, approved = base .. 'expiry', base .. 'learned', base .. 'approved'

-- Labels whose kind is one of these letters have a set of their own (see redis_layout.INDEXED).
local function index_of(label)
  return string.find('istcTe', string.sub(label, 1, 1), 1, true) and base .. 'index:' .. label
end

local function lease_key(cell, variant)
  return base .. 'lease:' .. cell .. variant
end

local function header(number)
  local line = call('HGET', entries, number)
  if not line then return nil end
  local cell, variant, token, origin, expires, same, labels =
    string.match(line, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)(.*)$')
  return {cell = cell, variant = variant, token = token, approved = origin == 'a', expires = tonumber(expires),
          same = same, labels = labels .. ' '}
end

-- The body that a cell holds for a variant under this number, or nil.
local function body_of(number, head)
  local held = call('HGET', base .. 'cell:' .. head.cell, head.variant)
  if held and string.match(held, '^%d+') == number then return string.sub(held, #number + 2) end
end

local function retire(number, reason, at)
  local head = header(number)
  call('HDEL', entries, number)
  call('ZREM', expiry, number)
  call('ZREM', learned, number)
  call('ZREM', approved, number)
  if not head then return nil end
  for label in string.gmatch(head.labels, '%S+') do
    local index = index_of(label)
    if index then call('SREM', index, number) end
  end
  local body = body_of(number, head)
  if not body then return nil end
  call('HDEL', base .. 'cell:' .. head.cell, head.variant)
  call('RPUSH', base .. 'history:' .. head.cell, reason .. '\n' .. at .. '\n' .. body)
  call('RPUSH', left, head.cell)
  return body
end

local function trim_history(most)
  for _ = 1, 256 do
    if call('LLEN', left) <= most then return end
    call('LPOP', base .. 'history:' .. call('LPOP', left))
  end
end

local function make_room(most, now)
  for _ = 1, 64 do
    if call('HLEN', entries) <= most then return end
    local reason, victim = 'expired', call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 1)[1]
    if not victim then
      reason, victim = 'evicted', call('ZRANGE', learned, 0, 0)[1] or call('ZRANGE', approved, 0, 0)[1]
    end
    if not victim then return end
    if retire(victim, reason, now) and reason == 'evicted' then call('HINCRBY', meta, 'evicted', 1) end
  end
end

local function matches(head, wanted)
  for label in string.gmatch(wanted, '%S+') do
    if not string.find(head.labels, ' ' .. label .. ' ', 1, true) then return false end
  end
  return true
end

local function holder_of(cell, variant)
  local lease = call('GET', lease_key(cell, variant))
  if lease then return string.match(lease, '^(%S+) (.*)$') end
end

local operations = {}

-- cell, variant, holder, now, its end, latest end that counts, milliseconds to remember it -> granted, latest mark, bodies with their numbers...
function operations.acquire(cell, variant, holder, now, ends, latest, life)
  local runs, owner = holder_of(cell, variant)
  now, runs = tonumber(now), tonumber(runs)
  local granted = not runs or owner == holder or not (now < runs and runs <= tonumber(latest))
  if granted then
    -- DEL first: a write that frees memory lets the ones after it pass when the server is full.
    call('DEL', lease_key(cell, variant))
    call('SET', lease_key(cell, variant), ends .. ' ' .. holder, 'PX', life)
  end
  return {granted and 1 or 0, call('HGET', meta, 'mark') or '0', unpack(call('HVALS', base .. 'cell:' .. cell))}
end

function operations.release(cell, variant, holder)
  local _, owner = holder_of(cell, variant)
  if owner == holder then call('DEL', lease_key(cell, variant)) end
  return 1
end

local function put(cell, variant, token, origin, created, expires, same, labels, body)
  local former, place = nil, base .. 'cell:' .. cell
  local held = call('HGET', place, variant)
  if held then
    former = string.match(held, '^%d+')
    local head = header(former)
    if head and head.approved then
      if origin ~= 'a' and not (head.expires and head.expires <= tonumber(created)) then return 'approved_exists' end
      if head.same == same then return 'unchanged' end
    end
    -- Stored by this very call when it was sent before and its reply was lost.
    if head and head.token == token then return 'stored' end
  end
  -- The first write is one that a full server refuses, so that all of this happens or nothing.
  local number = string.format('%d', call('HINCRBY', meta, 'next', 1))
  if former then
    retire(former, 'superseded', created)
    call('HDEL', place, variant)
  end
  call('HSET', place, variant, number .. ' ' .. body)
  call('HSET', entries, number, table.concat({cell, variant, token, origin, expires, same}, ' ') .. labels)
  call('ZADD', origin == 'a' and approved or learned, created, number)
  if expires ~= '-' then call('ZADD', expiry, expires, number) end
  for label in string.gmatch(labels, '%S+') do
    local index = index_of(label)
    if index then call('SADD', index, number) end
  end
  return 'stored'
end

-- Mark that the caller has taken into account or '', holder of a lease or '', the two bounds, then nine fields for each
-- entry -> a word for each entry, or the marks since.
function operations.put(ticket, holder, most, most_history, ...)
  local fields, said = {...}, {}
  if ticket ~= '' and tonumber(call('HGET', meta, 'mark') or '0') > tonumber(ticket) then
    return {'withdrawn', unpack(call('LRANGE', marks, 0, -1))}
  end
  for at = 1, #fields, 9 do
    local cell, variant, token = fields[at], fields[at + 1], fields[at + 2]
    local word
    if holder ~= '' then
      local held = call('HGET', base .. 'cell:' .. cell, variant)
      local head = held and header(string.match(held, '^%d+'))
      local _, owner = holder_of(cell, variant)
      -- The same: then the lease has ended already.
      if owner ~= holder then word = head and head.token == token and 'stored' or 'lease_lost' end
    end
    word = word or put(unpack(fields, at, at + 8))
    if holder ~= '' then operations.release(cell, variant, holder) end
    if word == 'stored' then make_room(tonumber(most), fields[at + 4]) end
    said[#said + 1] = word
  end
  trim_history(tonumber(most_history))
  return said
end

-- cell, token, reason, now, bound of the history -> body or nothing
function operations.retire(cell, token, reason, now, most_history)
  local held = call('HGETALL', base .. 'cell:' .. cell)
  for at = 1, #held, 2 do
    local number = string.match(held[at + 1], '^%d+')
    local head = header(number)
    if head and head.token == token then
      local body = retire(number, reason, now)
      call('DEL', lease_key(cell, held[at]))
      trim_history(tonumber(most_history))
      return body
    end
  end
  return false
end

-- labels, numbers... -> bodies of those that carry all labels
function operations.fetch(wanted, ...)
  local found = {}
  for _, number in ipairs({...}) do
    local head = header(number)
    local body = head and matches(head, wanted) and body_of(number, head)
    if body then found[#found + 1] = body end
  end
  return found
end

-- reason, now, bound of the history, label by which they were found or '', labels, numbers... -> how many left
function operations.take(reason, now, most_history, found_by, wanted, ...)
  local taken = 0
  for _, number in ipairs({...}) do
    local head = header(number)
    if not head then
      if found_by ~= '' then call('SREM', index_of(found_by), number) end
    elseif matches(head, wanted) and retire(number, reason, now) then
      taken = taken + 1
    end
  end
  trim_history(tonumber(most_history))
  return taken
end

-- now, how many at most, bound of the history -> found, how many of them left recall
function operations.sweep(now, most, most_history)
  local over, taken = call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, most), 0
  for _, number in ipairs(over) do
    if retire(number, 'expired', now) then taken = taken + 1 end
  end
  trim_history(tonumber(most_history))
  return {#over, taken}
end

-- selector, how many are remembered -> its number
function operations.mark(selector, most)
  -- First, since a full server lets it pass and then the rest: an invalidation must not fail for want of memory.
  call('LTRIM', marks, -(tonumber(most) - 1), -1)
  local number = call('HINCRBY', meta, 'mark', 1)
  call('RPUSH', marks, number .. ' ' .. selector)
  return number
end

-- field, value, 'once' to leave an existing one alone -> whether it was set; KEYS[1] is the hash itself
function operations.set(field, value, once)
  if once == 'once' and call('HEXISTS', meta, field) == 1 then return 0 end
  call('HDEL', meta, field)
  call('HSET', meta, field, value)
  return 1
end

function operations.counts()
  return {call('HLEN', entries), call('LLEN', left), tonumber(call('HGET', meta, 'evicted') or '0')}
end

return operations[ARGV[1]](unpack(ARGV, 2))
