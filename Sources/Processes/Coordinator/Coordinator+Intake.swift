import ControlChannel
import EventLoop
import FarmStore
import Logging

/// What the coordinator and the intake say to each other.
extension Coordinator: IntakeSlot.Owner {
    func started(_ intake: IntakeSlot) {
        intake.tell(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, name: intake.name,
                shards: UInt16(configuration.shards)))
        for app in apps.values {
            for order in app.intakeOrders { intake.tell(order) }
        }
    }

    func noticed(_ notice: IntakeNotice) {
        switch notice {
        case .hello: tellSoon()
        case .beat, .works, .rests: break
        case .putOff(let name, let milliseconds):
            apps[name]?.putOff(.milliseconds(Int64(clamping: milliseconds)))
        case .fenced(let name, let token):
            apps[name]?.intakeFenced(token)
            leaseBell.ring()
        }
    }

    func ended(_ name: String, atWorkFor working: Set<String>, limit: Int) async {
        for app in working { await apps[app]?.blame(name, isAlone: working.count == 1, limit: limit) }
    }
}
