extension Mutant {
    /// Faults of the scripts that create, extend and end campaigns.
    static let campaigns = [
        Mutant(
            .changeCampaign, "changes a campaign in any state", "if not is_expected then", "if false then"),
        Mutant(.changeCampaign, "forgets the call", "call('HSET', campaign, 'changed_by_call', name)"),
        Mutant(.changeCampaign, "uses the id of a job", "if job[1] and (", "if false and ("),
        Mutant(
            .changeCampaign, "keeps the counts of an old job", "call('DEL', P .. 'job:' .. id)", "tostring(1)"
        ),
        Mutant(.changeCampaign, "lists no campaign", "call('ZADD', CAMPAIGN_IDS, stamp, id)"),
        Mutant(
            .changeCampaign, "makes no job record", "if state == 'scheduled' then ensure",
            "if false then ensure"),
        Mutant(
            .changeCampaign, "does not wake the intake", "if ARGV[1] == '' then call('RPUSH'",
            "if false then call('RPUSH'"),
        Mutant(
            .changeCampaign, "wakes itself", "if ARGV[1] == '' then call('RPUSH'", "if true then call('RPUSH'"
        ),
        Mutant(.changeCampaign, "loses the reason", "if reason ~= '' then", "if false then"),
        Mutant(
            .changeCampaign, "does not finish the job", "if sum == accepted then finish_job",
            "if false then finish_job"),
        Mutant(
            .storeCampaignStep, "mistakes another step for this one",
            "if step == done and last[2] == name then",
            "if step == done then"),
        Mutant(
            .storeCampaignStep, "adds a step of an earlier process",
            "step ~= done + 1 or (last[2] or '') ~= before or", "false or"),
        Mutant(
            .storeCampaignStep, "adds a step that follows a lost step", " or (last[2] or '') ~= before", ""),
        Mutant(.storeCampaignStep, "extends a campaign that does not run", " or last[3] ~= 'running'", ""),
        Mutant(
            .storeCampaignStep, "extends a cancelled campaign", "if cancel and tonumber",
            "if false and tonumber"),
        Mutant(
            .storeCampaignStep, "cancels too early", "cancel:match('^%d+ (%d+)')) <= t",
            "cancel:match('^%d+ (%d+)')) > 0"),
        Mutant(.storeCampaignStep, "extends a paused campaign", "if pause_of(id) then return { 2 } end"),
        Mutant(.storeCampaignStep, "extends a full app", "if is_full() then return { 4 } end"),
        Mutant(
            .storeCampaignStep, "does not count unsendable devices of a paused campaign",
            "if batches > 0 then",
            "if true then"),
        Mutant(
            .storeCampaignStep, "keeps an unreadable job record",
            "if type(adding) == 'table' then drop_record(id) elseif", "if"),
        Mutant(.storeCampaignStep, "stores no bits", "call('SET', P .. ARGV[i], ARGV[i + 1])"),
        Mutant(.storeCampaignStep, "keeps counts forever", ", 'PXAT', ARGV[i + 2])", ")"),
        Mutant(.storeCampaignStep, "stores no progress", "call('HSET', campaign, ARGV[i], ARGV[i + 1])"),
        Mutant(.storeCampaignStep, "writes no events", "for _ = 1, events do", "for _ = 1, 0 do"),
        Mutant(.storeCampaignStep, "submits no pushes", "increment(job_record, 'submitted', pushes)"),
        Mutant(.storeCampaignStep, "wakes no worker", "ipairs(wake(wakes))", "ipairs({})"),
        Mutant(.storeCampaignStep, "keeps a job record forever", "call('EXPIRE', job_record, keep)"),
        Mutant(
            .storeCampaignStep, "merges a campaign that does not run", "if record[3] ~= 'running' or ",
            "if "),
        Mutant(
            .storeCampaignStep, "merges a campaign that is at another step", " or 0) ~= other.step or",
            " or 0) < 0 or"),
        Mutant(
            .storeCampaignStep, "merges a campaign whose last step has another name",
            " or (record[2] or '') ~= other.name", ""),
        Mutant(
            .storeCampaignStep, "merges a paused campaign", "pause_of(other.id) then", "false then"),
        Mutant(.storeCampaignStep, "merges a cancelled campaign", "not (entry and", "not (false and"),
        Mutant(
            .storeCampaignStep, "ends the merging too early", "entry:match('^%d+ (%d+)')) <= t)",
            "entry:match('^%d+ (%d+)')) > 0)"),
        Mutant(
            .storeCampaignStep, "stores no progress of merged campaigns",
            "call('HSET', key, ARGV[i], ARGV[i + 1])"),
        Mutant(
            .storeCampaignStep, "counts no merged devices",
            "for _, other in ipairs(others) do store_merged(other, name, t) end"),
        Mutant(
            .storeCampaignStep, "does not raise the step of merged campaigns",
            "    call('HSET', key, 'step', other.step + 1, 'did', name)\n"),
        Mutant(.settle, "never stops a campaign", "guard.failed <= guard.share * guard.all", "true"),
        Mutant(.settle, "stops a campaign too early", "guard.all < LEAST_OUTCOMES or", "false or"),
        Mutant(
            .settle, "counts a campaign's responses for the app", "entry.guard = guard_of(ARGV[entry.at])",
            "entry.guard = nil"),
        Mutant(.settle, "suppresses all bad tokens of a campaign", " or guard and guard.holds", ""),
        Mutant(.settle, "withdraws a campaign's suppressions", "isScreened or guard)", "isScreened)"),
        Mutant(.resume, "keeps a campaign's failures", "'recent')", "'none')"),
        Mutant(
            .storeCampaignStep, "tells the series no devices", "if ARGV[i]:find('^pulls:') then",
            "if false then"),
        Mutant(
            .storeCampaignStep, "tells each series all devices", "if not series then return end",
            "series = series or ''"),
        Mutant(.markRewards, "keeps a series forever", "call('EXPIRE', results, SERIES_SECONDS)"),
        Mutant(
            .markRewards, "counts each reward of a device", "if call('SETBIT', key, ARGV[k], 1) == 0 then",
            "if call('SETBIT', key, ARGV[k], 1) then"),
        Mutant(.markRewards, "keeps bits forever", "if rest > 0 then", "if false then"),
        Mutant(.markRewards, "keeps unreadable bits", "        call('DEL', key)\n"),
        Mutant(.markRewards, "writes short bits", "        call('SETBIT', key, 8 * BYTES - 1, 0)\n"),
        Mutant(
            .markRewards, "counts rewards of an unknown campaign",
            "if call('EXISTS', campaign) == 0 then return -1 end"),
        Mutant(
            .markDone, "counts a device twice", "if call('SETBIT', key, ARGV[k], 1) == 0 then",
            "if call('SETBIT', key, ARGV[k], 1) then"),
        Mutant(.markDone, "keeps bits forever", "if rest > 0 then", "if false then"),
        Mutant(.markDone, "keeps unreadable bits", "        call('DEL', key)\n"),
        Mutant(.markDone, "writes short bits", "        call('SETBIT', key, 8 * BYTES - 1, 0)\n"),
        Mutant(
            .markDone, "marks devices of an unknown campaign",
            "if call('EXISTS', campaign) == 0 then return -1 end"),
    ]
}
