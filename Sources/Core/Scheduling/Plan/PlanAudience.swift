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
    /// The zone whose clocks the window follows; nil without a window.
    package let zone: String?
    package let devices: Int
    package let window: Range<UTCTime>
    /// The window without avoided minutes.
    package let allowed: TimeRangeSet
    /// The window in words for error messages, such as `05:00–07:00 Europe/Berlin`; nil without a window.
    let name: String?

    /// This group with another number of devices, and without the times before `start`.
    package func rest(from start: UTCTime, devices: Int) -> PlanGroup {
        let window = window.clamped(to: start..<max(start, window.upperBound))
        return PlanGroup(
            zone: zone, devices: devices, window: window, allowed: allowed.clipped(to: window), name: name)
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
        guard let window = schedule.window else {
            return ([try group(without: fallback, audience.devices)], withoutZone)
        }
        switch window.zone {
        case .named(let name): return ([try group(window, try rules(name), audience.devices)], withoutZone)
        case .device:
            var groups: [PlanGroup] = []
            for (name, count) in devices.sorted(by: { $0.key < $1.key }) {
                groups.append(try group(window, try rules(name), count))
            }
            return (groups, withoutZone)
        }
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

    private func group(
        _ window: CampaignWindow, _ zone: TimeZoneRules, _ devices: Int
    ) throws(PlanRefusal) -> PlanGroup {
        let found =
            switch schedule.start {
            case .on(let date): try timesOn(date, of: window, zone, devices)
            case .now: nextTimes(of: window, zone, after: now)
            case .at(let time): nextTimes(of: window, zone, after: max(now, time))
            }
        guard let found else {
            throw .noTime(window: window.description, zone: zone.name, devices: devices)
        }
        return PlanGroup(
            zone: zone.name, devices: devices, window: found.window, allowed: found.allowed,
            name: "\(window) \(zone.name)")
    }

    private typealias WindowTimes = (window: Range<UTCTime>, allowed: TimeRangeSet)

    /// Returns the rest of the window of one date; nil if nothing may be sent in the rest.
    private func timesOn(
        _ date: CivilDate, of window: CampaignWindow, _ zone: TimeZoneRules, _ devices: Int
    ) throws(PlanRefusal) -> WindowTimes? {
        let times = window.times(on: date, in: zone)
        guard times.isEmpty || times.upperBound > now else {
            throw .windowHasPassed(
                window: window.description, zone: zone.name, date: date, devices: devices,
                ended: times.upperBound)
        }
        return rest(of: times, zone, from: now)
    }

    /// Returns the first window, or the rest of an open window, in which the campaign may send.
    private func nextTimes(
        of window: CampaignWindow, _ zone: TimeZoneRules, after earliest: UTCTime
    ) -> WindowTimes? {
        // A window that began yesterday may end after midnight. A zone may skip one day when it moves across the
        // International Date Line.
        let today = zone.localTime(at: earliest).date.dayNumber
        for day in today - 1...today + 3 {
            let times = window.times(on: CivilDate(dayNumber: day), in: zone)
            if let found = rest(of: times, zone, from: earliest) { return found }
        }
        return nil
    }

    private func rest(
        of times: Range<UTCTime>, _ zone: TimeZoneRules, from earliest: UTCTime
    ) -> WindowTimes? {
        guard times.upperBound > earliest else { return nil }
        let window = times.clamped(to: earliest..<times.upperBound)
        let allowed = schedule.avoid.allowedTimes(in: window, zone: zone)
        return allowed.isEmpty ? nil : (window, allowed)
    }
}
