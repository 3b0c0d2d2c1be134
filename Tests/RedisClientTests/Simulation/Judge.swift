import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks an app's keys after every step of a simulation. The judge follows docs/internals/redis-keys.md alone.
/// It shares no code with the farm's accounting check, because that check may contain the same faults as the other scripts.
enum Judge {
    static func load(into redis: PrivateRedis) throws -> [UInt8] {
        try #require(try redis.run("SCRIPT", "LOAD", text).bytes)
    }

    /// What the counters of caps must have.
    enum CapCheck: Int {
        case exact, atLeast, none
    }

    static func command(_ hash: [UInt8], _ keys: Keys, caps: CapCheck) -> RESPCommand {
        var command = RESPCommand("EVALSHA")
        command.append(hash)
        command.append(1)
        command.append(keys.prefix)
        command.append(caps.rawValue)
        return command
    }

    static func check(_ reply: RESPValue) throws {
        if reply.error?.code == "NOSCRIPT" { return }
        guard let faults = reply.array?.map({ $0.text ?? "?" }) else {
            throw SimulationFault.accounting(["\(reply)"])
        }
        guard faults.isEmpty else { throw SimulationFault.accounting(faults) }
    }

    private static let text = """
        #!lua
        local call, P, faults = redis.call, KEYS[1], {}
        local function check(holds, ...)
            if not holds then faults[#faults + 1] = table.concat({ ... }, ' ') end
        end
        local function map(key)
            local flat, all = call('HGETALL', P .. key), {}
            for i = 1, #flat, 2 do all[flat[i]] = flat[i + 1] end
            return all
        end
        local bodies, states, places = map('batches'), map('states'), {}

        -- The job parts of a batch body: job, positions, whether the pushes of the job part are sent at most once.
        local function job_parts(body)
            local version, n, at = struct.unpack('>BI2', body)
            local list = {}
            for i = 1, n do
                local count, flags, id
                count, flags, id, at = struct.unpack('>I2BBc0', body, at)
                list[i] = { id, count, flags % 2 == 1 }
            end
            return list
        end

        local inBatches, inFlight, waiting, parkedTotal = {}, {}, {}, 0
        local function add(sums, job, n)
            if n > 0 then sums[job] = (sums[job] or 0) + n end
        end
        local function batch(id, place, lane, shard)
            check(not places[id], id, 'is in', places[id] or '', 'and in', place)
            places[id] = place
            local body, state = bodies[id], states[id]
            if not body or not state then return check(false, id, 'in', place, 'has no body or no state') end
            local nn, l = id:match('^(%d%d)%.([hb])%.')
            check(nn and (not shard or nn == shard), id, 'is in the wrong shard', place)
            check(not lane or l == lane, id, 'is in the wrong lane', place)
            local worker, deliveries, granted, suspicion, open, positions =
                state:match('^([^|]*)|(%d+)|(%d+)|([%d,]*)|(%d+)|([.px]+)$')
            if not worker then return check(false, id, 'has the state', state) end
            local flies = place == 'flight'
            check(flies == (worker ~= ''), id, 'in', place, 'is with', worker)
            check(flies or granted == '0', id, 'in', place, 'has a credit of', granted)
            check(tonumber(granted) <= #positions, id, 'has a credit of', granted, 'of', #positions)
            check(not flies or tonumber(deliveries) > 0, id, 'is in flight and was never checked out')
            if suspicion ~= '' then
                local _, commas = suspicion:gsub(',', '')
                check(commas == 7, id, 'has the suspicion', suspicion)
            end
            local at, sum = 1, 0
            for _, job_part in ipairs(job_parts(body)) do
                local part = positions:sub(at, at + job_part[2] - 1)
                at = at + job_part[2]
                local _, dots = part:gsub('%.', '')
                local _, shelved = part:gsub('p', '')
                sum = sum + dots
                add(inBatches, job_part[1], dots + shelved)
                if flies then add(inFlight, job_part[1], dots) end
                if place == 'delayed' then add(waiting, job_part[1], dots) end
            end
            check(at == #positions + 1, id, 'has', #positions, 'positions and a body of', at - 1)
            check(sum == tonumber(open), id, 'says', open, 'open of', sum)
            check(sum > 0 or place == 'parked', id, 'in', place, 'has nothing to send')
            check(sum > 0 or positions:find('p', 1, true), id, 'is empty')
        end
        for shard = 0, 3 do
            local nn = string.format('%02d', shard)
            for _, id in ipairs(call('LRANGE', P .. 'ready:' .. nn, 0, -1)) do batch(id, 'ready', 'h', nn) end
            for _, id in ipairs(call('LRANGE', P .. 'bulk:' .. nn, 0, -1)) do batch(id, 'bulk', 'b', nn) end
            for _, id in ipairs(call('LRANGE', P .. 'in_flight:' .. nn, 0, -1)) do batch(id, 'flight', nil, nn) end
        end
        for _, id in ipairs(call('ZRANGE', P .. 'delayed', 0, -1)) do batch(id, 'delayed') end
        for _, id in ipairs(call('LRANGE', P .. 'paused', 0, -1)) do batch(id, 'parked') end
        for id in pairs(states) do check(places[id], id, 'has a state and is nowhere') end
        for id in pairs(bodies) do check(places[id], id, 'has a body and is nowhere') end

        -- Items of a worker's report: kind, job, positions.
        local function items(entry, f)
            local at = 2
            while at <= #entry do
                local kind, job, n
                kind, job, n, at = struct.unpack('>c1Bc0I2', entry, at)
                f(job, n)
                local function short(extra) at = at + 1 + entry:byte(at) + extra end
                if kind == 'D' then
                    at = at + 1
                    if entry:byte(at - 1) == 1 then for _ = 1, n do short(0) end end
                    if entry:byte(at - 1) == 2 then at = at + 8 * n end
                elseif kind == 'F' then
                    short(0)
                    short(0)
                    local named = n
                    at = at + 5
                    for _ = 1, named do short(8) end
                elseif kind == 'E' then
                    short(0)
                    at = at + 1
                    for _ = 1, n do short(0) end
                elseif kind == 'R' then
                    at = at + 3
                    short(4)
                    local length = struct.unpack('>I4', entry, at)
                    at = at + 4 + length
                elseif kind == 'L' then
                    at = at + 2
                    short(0)
                    local length = struct.unpack('>I4', entry, at)
                    at = at + 4 + length
                else
                    error('an item of kind ' .. kind)
                end
            end
        end
        local inEntries = {}
        for _, record in ipairs(call('XRANGE', P .. 'results', '-', '+')) do
            local f = {}
            for i = 1, #record[2], 2 do f[record[2][i]] = record[2][i + 1] end
            if f.r then
                items(f.r, function(job, n) add(inEntries, job, n) end)
            else
                local first = 1
                for _, job_part in ipairs(job_parts(f.b)) do
                    local last = first + job_part[2] - 1
                    for a, b in f.p:gmatch('(%d+)%-(%d+)') do
                        add(inEntries, job_part[1], math.min(last, tonumber(b)) - math.max(first, tonumber(a)) + 1)
                    end
                    check(f.k ~= 'U' or job_part[3] or not f.p:find('^' .. first .. '%-'), 'unknown and at least once')
                    first = last + 1
                end
            end
        end

        -- Dead letters: each failed push with a valid token is kept once.
        local kept, letters, bytes = {}, 0, 0
        for _, record in ipairs(call('XRANGE', P .. 'dead_letters', '-', '+')) do
            local w = record[2]
            check(w[1] == 'j' and w[3] == 'r' and w[7] == 'n' and w[9] == 'b' and #w == 10, record[1], 'is not a dead letter')
            local list = job_parts(w[10])
            check(#list == 1 and list[1][1] == w[2] and list[1][2] == tonumber(w[8]), record[1], 'is of another job')
            add(kept, w[2] .. ' ' .. w[4], tonumber(w[8]))
            letters, bytes = letters + tonumber(w[8]), bytes + #w[10]
        end
        local sums = map('dead_letter_counts')
        check(letters == tonumber(sums.pushes or '0'), 'dead letters of', letters, 'pushes are counted as', sums.pushes or '-')
        check(bytes == tonumber(sums.bytes or '0'), 'dead letters of', bytes, 'bytes are counted as', sums.bytes or '-')

        -- Accounting: each accepted push is in exactly one place.
        local intake = map('intake')
        local load, listed = 0, {}
        local capped_pushes = 0
        local quarantine = map('paused_jobs')
        local before, after = {}, {}
        local ms = math.floor(tonumber(call('GET', '\(ScriptVariant.clockKey)')) / 1000)
        local flat = call('HGETALL', 'test:judge')
        for i = 1, #flat, 2 do before[flat[i]] = flat[i + 1] end
        for _, job in ipairs(call('ZRANGE', P .. 'jobs', 0, -1)) do
            listed[job] = true
            local a = map('job:' .. job)
            local function n(name) return tonumber(a[name] or '0') end
            local done = n('delivered') + n('failed') + n('expired') + n('cancelled')
            local unsplit = intake.head == job and n('accepted') - tonumber(intake.offset) or 0
            local batches, entries = inBatches[job] or 0, inEntries[job] or 0
            local adding = n('adding')
            local campaign = map('campaign:' .. job)
            if campaign.state then
                check((adding == 1) == (campaign.state == 'scheduled' or campaign.state == 'running'), job, 'has adding', adding,
                    'and is', campaign.state)
                check(tonumber(campaign.accepted or '0') == n('accepted') - adding, job, 'accepted', n('accepted'), 'and its campaign',
                    campaign.accepted or '-')
                local bits, marks = 0, 0
                for partition = 0, 1 do
                    bits = bits + call('STRLEN', P .. 'sent:' .. job .. ':1:0' .. partition .. ':0') / 2
                    marks = marks + call('BITCOUNT', P .. 'done:' .. job .. ':0' .. partition .. ':0')
                end
                local function c(name) return tonumber(campaign[name .. ':1'] or '0') end
                local others = c('unsendable') + c('merged') + c('capped') + c('excluded') - c('unhandled')
                check(bits == n('accepted') - adding + others, job, 'has', bits, 'bits')
                check(marks == tonumber(campaign.done or '0'), job, 'has', marks, 'marks of', campaign.done or '-', 'done devices')
                if campaign.category then capped_pushes = capped_pushes + n('accepted') - adding end
                -- While a campaign is paused or cancelled, its content is added to no push.
                local cancelled_at = (call('HGET', P .. 'cancels', job) or ''):match('^%d+ (%d+)')
                local stopped = quarantine[job] or cancelled_at and tonumber(cancelled_at) <= ms
                local added = string.format('%d', n('accepted') - adding + tonumber(campaign['merged:1'] or '0'))
                local was = before['stopped ' .. job] or ''
                check(not stopped or was == '' or was == added, job, 'is paused or cancelled, and adds', added, 'after', was)
                after[#after + 1] = 'stopped ' .. job
                after[#after + 1] = stopped and added or ''
            else
                check(adding == 0, job, 'has adding and no campaign')
            end
            check(n('accepted') == done + batches + entries + unsplit + adding, job, 'accepted', n('accepted'), 'has', done,
                'done,', batches, 'in batches,', entries, 'in entries,', unsplit, 'unsplit')
            check(n('submitted') == n('accepted') - adding + n('malformed') + n('duplicates'), job, 'has another number of submitted pushes')
            check(n('in_flight') == (inFlight[job] or 0) + entries, job, 'in_flight', n('in_flight'), 'of',
                inFlight[job] or 0, 'and', entries)
            check(n('delayed') == (waiting[job] or 0), job, 'delayed', n('delayed'), 'of', waiting[job] or 0)
            check((a.state == 'finished') == (done == n('accepted')), job, 'is', a.state or 'nothing', 'with', done)
            check((a.state == 'finished') == (call('TTL', P .. 'job:' .. job) > 0), job, 'has the wrong lifetime')
            check((a.state == 'finished') == (a.finished_at ~= nil), job, 'has no finish time, or one too early')
            check((quarantine[job] ~= nil) == (a.paused_reason ~= nil), job, 'has a paused reason without a pause, or none with it')
            check(n('cancelled') == 0 or call('HEXISTS', P .. 'cancels', job) == 1 or a.state == 'finished', job,
                'is cancelled without a command')
            local reasons = 0
            for k, v in pairs(a) do if k:sub(1, 7) == 'reason:' then reasons = reasons + tonumber(v) end end
            for _, reason in ipairs({ 'unknown', 'poison', 'BadTopic' }) do
                local had = kept[job .. ' ' .. reason] or 0
                check(n('reason:' .. reason) == had, job, 'failed', reason, n('reason:' .. reason), 'and has dead letters of', had)
            end
            check(not kept[job .. ' BadDeviceToken'], job, 'has dead letters of invalid tokens')
            check(reasons == n('failed'), job, 'failed', n('failed'), 'with', reasons, 'reasons')
            local now = { n('delivered'), n('failed'), n('expired'), n('maybe_duplicated'), n('accepted') - adding, n('cancelled') }
            local was = before[job]
            if was then
                local k = 1
                for old in was:gmatch('%d+') do
                    check(now[k] >= tonumber(old), job, 'goes back from', was, 'to', table.concat(now, ' '))
                    k = k + 1
                end
            end
            after[#after + 1] = job
            after[#after + 1] = table.concat(now, ' ')
            load = load + batches + entries
        end
        -- A push counts for the cap in the step that accepts it. If Redis forgets a step, a step that read the counters before may
        -- store them again, so a device then gets fewer pushes, and never more.
        local cap_counts = 0
        for partition = 0, 1 do
            local counts = call('GET', P .. 'caps:caps:week:0:0' .. partition .. ':0') or ''
            for i = 2, #counts, 2 do cap_counts = cap_counts + counts:byte(i) end
        end
        check(cap_counts == capped_pushes or ARGV[1] == '1' and cap_counts > capped_pushes or ARGV[1] == '2', 'counters of caps have', cap_counts,
            'of', capped_pushes, 'pushes')
        -- Each call for the partition of the registry sets both values to the new version.
        local registry = '{pushfarm:demo:r00}:'
        local meta = call('HMGET', registry .. 'meta', 'version', 'devices')
        check(meta[1] == meta[2] and meta[1] == call('GET', registry .. 'bits:0:0'), 'the partition has version', meta[1] or '-',
            'and the changes of', meta[2] or '-')
        local was = tonumber(before.registry or '') or 0
        check((tonumber(meta[1] or '') or 0) >= was, 'the partition goes back from version', was, 'to', meta[1] or '-')
        after[#after + 1] = 'registry'
        after[#after + 1] = meta[1] or '0'
        for job in pairs(inBatches) do check(listed[job], job, 'has batches and no job record') end
        for job in pairs(inEntries) do check(listed[job], job, 'has entries and no job record') end
        check(load == tonumber(call('HGET', P .. 'load', 'open') or '0'), 'load',
            call('HGET', P .. 'load', 'open') or '-', 'of', load)
        local parked = call('HLEN', P .. 'paused_jobs') + call('HLEN', P .. 'paused_tokens') + call('HLEN', P .. 'cancels')
        check(call('HLEN', P .. 'cancels') == tonumber(call('HGET', P .. 'admission', 'cancels') or '0'), 'admission counts other cancels')
        check(parked == tonumber(call('HGET', P .. 'admission', 'pauses') or '0'), 'admission counts other pauses')

        -- The intake: a job that is split partly is in `taken` and has a job record.
        local taken = call('LLEN', P .. 'taken')
        check(not intake.head or taken > 0, 'the partly split job is not taken')
        check(tonumber(intake.suspects or '0') <= taken, intake.suspects or '', 'suspect jobs of', taken, 'taken jobs')
        check(not intake.head or listed[intake.head], 'the partly split job has no job record')
        if #after > 0 then call('HSET', 'test:judge', unpack(after)) end
        return faults
        """
}
