import PushModel

/// The devices of a campaign by time zone.
package struct PlanAudience: Hashable, Sendable {
    /// The number of devices of each zone, by the zone's name. A name without rules counts as no zone.
    package let zones: [String: Int]
    package let withoutZone: Int

    package init(zones: [String: Int], withoutZone: Int = 0) {
        self.zones = zones.filter { $0.value > 0 }
        self.withoutZone = max(0, withoutZone)
    }

    package var devices: Int { zones.values.reduce(withoutZone) { $0.adding(saturating: $1) } }
}

/// Devices that share a window, and the times at which the campaign may send to them.
package struct PlanGroup: Hashable, Sendable {
    /// The zone whose clocks the window or the quiet hours follow; nil without a window and quiet hours.
    package let zone: String?
    package let devices: Int
    package let window: Range<UTCTime>
    /// The window without avoided minutes and quiet hours. Empty if the whole window is quiet in the zone of the devices.
    package let allowed: TimeRangeSet
    /// The quiet hours in the window.
    var quiet = TimeRangeSet.empty
    /// The window in words for error messages, such as `05:00–07:00 Europe/Berlin`; nil without a window.
    let name: String?
    /// Whether an earlier window had time left that was wholly quiet in the zone.
    var skipsQuietWindow = false

    /// This group with another number of devices, and without the times before `start`.
    package func rest(from start: UTCTime, devices: Int) -> PlanGroup {
        let window = window.clamped(to: start..<max(start, window.upperBound))
        return PlanGroup(
            zone: zone, devices: devices, window: window, allowed: allowed.clipped(to: window), quiet: quiet,
            name: name, skipsQuietWindow: skipsQuietWindow)
    }

    /// The first time, at `time` or later, at which the campaign may send; the end of the window if there is none.
    package func opening(at time: UTCTime) -> UTCTime {
        guard allowed.range(at: time) == nil else { return time }
        return allowed.range(after: time)?.lowerBound ?? max(time, window.upperBound)
    }

    /// The time at which `length` milliseconds, without quiet hours, have passed since `start`.
    package func end(of length: Int64, from start: UTCTime) -> UTCTime {
        quiet.ranges.reduce(start.adding(milliseconds: length)) { end, range in
            let range = range.clamped(to: start..<max(start, range.upperBound))
            return range.lowerBound < end ? end.adding(milliseconds: range.milliseconds) : end
        }
    }
}

/// Divides an audience into groups with a window.
package struct PlanGroups {
    private let schedule: CampaignSchedule
    private let zones: (String) -> TimeZoneRules?
    private let now: UTCTime

    package init(
        _ schedule: CampaignSchedule, zones: @escaping (String) -> TimeZoneRules?, now: UTCTime
    ) {
        (self.schedule, self.zones, self.now) = (schedule, zones, now)
    }

    /// The groups, and the number of devices that count to the default zone because they have no zone or an unknown zone.
    package func groups(
        of audience: PlanAudience, defaultZone: String
    ) throws(PlanRefusal) -> (groups: [PlanGroup], withoutZone: Int) {
        let fallback = try rules(defaultZone)
        var devices: [String: Int] = [:]
        var withoutZone = audience.withoutZone
        for (name, count) in audience.zones {
            if zones(name) == nil {
                withoutZone = withoutZone.adding(saturating: count)
            } else {
                devices[name] = count
            }
        }
        if withoutZone > 0 {
            devices[defaultZone] = (devices[defaultZone] ?? 0).adding(saturating: withoutZone)
        }
        guard audience.devices > 0 else { return ([], 0) }
        let byZone = devices.sorted { $0.key < $1.key }
        let all: PlanGroup
        switch schedule.window?.zone {
        case .device:
            var groups: [PlanGroup] = []
            for (name, count) in byZone {
                groups.append(try group(schedule.window, try rules(name), count, isOwn: true))
            }
            return (groups, withoutZone)
        case .named(let name): all = try group(schedule.window, try rules(name), audience.devices)
        case nil: all = try group(nil, fallback, audience.devices)
        }
        guard schedule.quiet != nil else { return ([all], withoutZone) }
        var groups: [PlanGroup] = []
        for (name, count) in byZone { groups.append(self.group(all, try rules(name), count)) }
        // The devices of a zone in which the whole window is quiet get no push. But some zone must have time.
        guard groups.contains(where: { !$0.allowed.isEmpty }) else {
            throw .noTime(
                window: "\(schedule.window?.description ?? "")", zone: byZone.first?.key ?? defaultZone,
                devices: audience.devices)
        }
        return (groups, withoutZone)
    }

    /// Returns the group of the devices of one zone, for a window that is the same for all devices.
    private func group(_ all: PlanGroup, _ zone: TimeZoneRules, _ devices: Int) -> PlanGroup {
        let quiet = schedule.quiet?.quietTimes(in: all.window, zone: zone) ?? .empty
        return PlanGroup(
            zone: zone.name, devices: devices, window: all.window, allowed: all.allowed.subtracting(quiet),
            quiet: quiet, name: all.name)
    }

    private func rules(_ name: String) throws(PlanRefusal) -> TimeZoneRules {
        guard let rules = zones(name) else { throw .unknownZone(name) }
        return rules
    }

    /// Returns the group of a campaign without a window. A date begins at midnight of the default zone.
    private func group(without zone: TimeZoneRules, _ devices: Int) throws(PlanRefusal) -> PlanGroup {
        let start: UTCTime
        switch schedule.start {
        case .now: start = now
        case .at(let time): start = max(now, time)
        case .on(let date):
            start = max(now, zone.occurrence(of: LocalTime(date)).first)
            let end = zone.occurrence(of: LocalTime(date, second: 86_400)).first
            guard now < end else {
                throw .windowHasPassed(
                    window: "\(TimeOfDay.midnight)–24:00", zone: zone.name, date: date, devices: devices,
                    ended: end)
            }
        }
        let range = start..<start.adding(milliseconds: CampaignSchedule.longest)
        return PlanGroup(
            zone: nil, devices: devices, window: range,
            allowed: schedule.avoid.allowedTimes(in: range, zone: zone), name: nil)
    }

    /// - Parameter isOwn: whether the zone is that of the devices, whose quiet hours then limit the choice of the window.
    private func group(
        _ window: CampaignWindow?, _ zone: TimeZoneRules, _ devices: Int, isOwn: Bool = false
    ) throws(PlanRefusal) -> PlanGroup {
        guard let window else { return try group(without: zone, devices) }
        let quiet = isOwn ? schedule.quiet : nil
        let found =
            switch schedule.start {
            case .on(let date): try timesOn(date, of: window, zone, quiet, devices)
            case .now: nextTimes(of: window, zone, quiet, after: now)
            case .at(let time): nextTimes(of: window, zone, quiet, after: max(now, time))
            }
        guard let found else {
            throw .noTime(window: window.description, zone: zone.name, devices: devices)
        }
        return PlanGroup(
            zone: zone.name, devices: devices, window: found.window, allowed: found.allowed,
            quiet: found.quiet, name: "\(window) \(zone.name)", skipsQuietWindow: found.skipsQuiet)
    }

    private typealias WindowTimes = (
        window: Range<UTCTime>, allowed: TimeRangeSet, quiet: TimeRangeSet, skipsQuiet: Bool
    )

    /// Returns the rest of the window of one date; nil if nothing may be sent in the rest.
    private func timesOn(
        _ date: CivilDate, of window: CampaignWindow, _ zone: TimeZoneRules, _ quiet: QuietHours?,
        _ devices: Int
    ) throws(PlanRefusal) -> WindowTimes? {
        let times = window.times(on: date, in: zone)
        guard times.isEmpty || times.upperBound > now else {
            throw .windowHasPassed(
                window: window.description, zone: zone.name, date: date, devices: devices,
                ended: times.upperBound)
        }
        return rest(of: times, zone, quiet, from: now)
    }

    /// Returns the first window, or the rest of an open window, in which the campaign may send.
    private func nextTimes(
        of window: CampaignWindow, _ zone: TimeZoneRules, _ quiet: QuietHours?, after earliest: UTCTime
    ) -> WindowTimes? {
        // A window that began yesterday may end after midnight. A zone may skip one day when it moves across the
        // International Date Line.
        let today = zone.localTime(at: earliest).date.dayNumber
        var skipsQuiet = false
        for day in today - 1...today + 3 {
            let times = window.times(on: CivilDate(dayNumber: day), in: zone)
            if var found = rest(of: times, zone, quiet, from: earliest) {
                found.skipsQuiet = skipsQuiet
                return found
            }
            let hasTime = rest(of: times, zone, nil, from: earliest) != nil
            skipsQuiet = skipsQuiet || hasTime
        }
        return nil
    }

    private func rest(
        of times: Range<UTCTime>, _ zone: TimeZoneRules, _ quiet: QuietHours?, from earliest: UTCTime
    ) -> WindowTimes? {
        guard times.upperBound > earliest else { return nil }
        let window = times.clamped(to: earliest..<times.upperBound)
        let quiet = quiet?.quietTimes(in: window, zone: zone) ?? .empty
        let allowed = schedule.avoid.allowedTimes(in: window, zone: zone).subtracting(quiet)
        return allowed.isEmpty ? nil : (window, allowed, quiet, false)
    }
}
