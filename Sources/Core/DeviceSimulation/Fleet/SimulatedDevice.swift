/// Decides for one device which pushes are shown, held or discarded, and when the app starts.
///
/// A value of this type exists only while the fleet handles one push or one event. The fleet stores ``state`` and calls
/// ``eventDue(at:editions:)`` at ``due``.
/// - Source: docs/simulator.md, section "Devices", lists the rules and says which rules are assumptions.
struct SimulatedDevice {
    let number: UInt32
    let conditions: DeviceConditions
    let editionKilobytes: UInt32
    var state: SimulatedDeviceState
    /// The time of the next event; nil: only a push changes the device.
    var due: ModelTime?
    private(set) var actions: [DeviceAction] = []

    init(
        _ number: UInt32, _ conditions: DeviceConditions, _ state: SimulatedDeviceState,
        editionKilobytes: UInt32
    ) {
        self.number = number
        self.conditions = conditions
        self.state = state
        self.editionKilobytes = editionKilobytes
    }

    mutating func note(_ kind: DeviceAction.Kind, at time: ModelTime) {
        actions.append(DeviceAction(time: time, device: number, kind: kind))
    }

    // MARK: Pushes and events

    /// - Parameter due: the time of the device's next event, as it was set before the push.
    mutating func receive(
        _ push: SimulatedPush, at time: ModelTime, due: ModelTime?, editions: inout EditionTable
    ) {
        self.due = due
        switch push.kind {
        case .emptyBackground: note(.discard(.empty), at: time)
        case .background: hold(push, .background, at: time, editions: &editions)
        case .alert where conditions.network(at: time) == .none:
            hold(push, .alert, at: time, editions: &editions)
        case .alertWithExtension where conditions.network(at: time) == .none:
            hold(push, .alertWithExtension, at: time, editions: &editions)
        case .alert, .alertWithExtension:
            let shown = HeldPush(push, kind: push.kind == .alert ? .alert : .alertWithExtension)
            show(shown, at: time, editions: &editions)
        }
    }

    mutating func eventDue(at time: ModelTime, editions: inout EditionTable) {
        due = nil
        switch state.activity {
        case .idle, .waking: consider(at: time, editions: &editions)
        case .background, .foreground, .notificationExtension:
            continueRun(at: time, editions: &editions)
            if state.activity == .idle { consider(at: time, editions: &editions) }
        }
    }

    /// Puts a push into the device's slot, and discards the push that was in the slot before.
    private mutating func hold(
        _ push: SimulatedPush, _ kind: HeldPush.Kind, at time: ModelTime, editions: inout EditionTable
    ) {
        var next = HeldPush(push, kind: kind)
        if let old = state.held {
            let isSame = old.collapseID != 0 && old.collapseID == next.collapseID
            note(.discard(isSame ? .collapsed : .superseded), at: time)
            // If the system has already decided to start the app for the old push, this start now delivers the new push.
            if old.choice == .wakes, kind == .background, !next.neverWakes { next.choice = .wakes }
        }
        state.held = next
        switch state.activity {
        case .waking where next.choice == .wakes: break
        case .idle, .waking: consider(at: time, editions: &editions)
        case .background, .foreground, .notificationExtension: break
        }
    }

    // MARK: The push in the slot

    /// Applies the rules for the push in the slot: delivers the push, discards it, or sets ``due`` to a later time at which
    /// the rules are applied again.
    private mutating func consider(at time: ModelTime, editions: inout EditionTable) {
        let isWakeDue = state.activity == .waking
        state.activity = .idle
        guard let held = state.held else {
            due = nil
            return
        }
        if isExpired(held, at: time, isWakeDue: isWakeDue) { return drop(.expired, at: time) }
        if conditions.network(at: time) == .none { return wait(held, from: time) }
        guard held.kind == .background else {
            state.held = nil
            due = nil
            return show(held, at: time, editions: &editions)
        }
        if let end = conditions.foregroundEnd(at: time) {
            state.held = nil
            return begin(.foreground, held.editions, at: time, until: end, editions: &editions)
        }
        if conditions.isForceQuit { return drop(.forceQuit, at: time) }
        if held.neverWakes || conditions.isInLowPowerMode(at: time) || !hasAllowance(at: time)
            || !hasBudget(at: time)
        {
            return wait(held, from: time)
        }
        switch held.choice {
        case .ignored: wait(held, from: time)
        case .wakes: wakeUp(for: held, at: time, editions: &editions)
        case .open: choose(held, at: time)
        }
    }

    /// Whether the push has expired. A push whose wake-up is due does not expire, because the system decided in time to start
    /// the app. A push that is never stored does not expire here, because ``wait(_:from:)`` discards the push.
    private func isExpired(_ held: HeldPush, at time: ModelTime, isWakeDue: Bool) -> Bool {
        guard held.expiration != SimulatedPush.notStored else { return false }
        return held.expiration <= time && !(isWakeDue && held.choice == .wakes)
    }

    private mutating func drop(_ reason: DeviceAction.Discard, at time: ModelTime) {
        state.held = nil
        due = nil
        note(.discard(reason), at: time)
    }

    /// Discards a push that is never stored. For another push, sets ``due`` to the device's next hour, to the next time that
    /// the user opens the app, or to the push's expiration, whichever is first.
    private mutating func wait(_ held: HeldPush, from time: ModelTime) {
        if held.expiration == SimulatedPush.notStored { return drop(.notStored, at: time) }
        let hour = conditions.nextHour(after: time)
        let next = conditions.nextOpening(after: time, before: hour) ?? hour
        due = max(time, min(next, held.expiration))
    }

    /// Chooses at random whether and when the system starts the app for the push.
    private mutating func choose(_ held: HeldPush, at time: ModelTime) {
        let index = state.draws
        state.draws &+= 2
        guard conditions.draw.fraction(.push, index) < conditions.wakeShare(at: time) else {
            state.held?.choice = .ignored
            return wait(held, from: time)
        }
        state.held?.choice = .wakes
        state.activity = .waking
        let wake = time.advanced(by: conditions.wakeDelay(conditions.draw.normal(.push, index &+ 1)))
        due = conditions.nextOpening(after: time, before: wake) ?? wake
    }

    private mutating func wakeUp(for held: HeldPush, at time: ModelTime, editions: inout EditionTable) {
        state.held = nil
        state.allowanceUsed = state.allowanceUsed.adding(saturating: 1)
        begin(
            .background, held.editions, at: time, until: time.advanced(by: Self.runTime), editions: &editions)
    }

    private mutating func show(_ push: HeldPush, at time: ModelTime, editions: inout EditionTable) {
        let replaces = push.collapseID != 0 && push.collapseID == state.shownCollapseID
        state.shownCollapseID = push.collapseID
        note(.showAlert(replaces: replaces), at: time)
        guard push.kind == .alertWithExtension else { return }
        let end = time.advanced(by: Self.runTime)
        begin(
            .notificationExtension, push.editions, at: time, until: isRunning ? max(end, state.runEnd) : end,
            editions: &editions)
    }

    // MARK: Allowance and budget

    private mutating func hasAllowance(at time: ModelTime) -> Bool {
        let hour = UInt16(truncatingIfNeeded: conditions.hourNumber(at: time))
        if state.allowanceHour != hour { (state.allowanceHour, state.allowanceUsed) = (hour, 0) }
        return Int(state.allowanceUsed) < conditions.profile.allowance
    }

    private mutating func hasBudget(at time: ModelTime) -> Bool {
        let day = UInt16(truncatingIfNeeded: conditions.dayNumber(at: time))
        if state.budgetDay != day { (state.budgetDay, state.budgetUsed) = (day, 0) }
        return UInt32(state.budgetUsed) < conditions.profile.dailyBudget.tenths
    }
}
