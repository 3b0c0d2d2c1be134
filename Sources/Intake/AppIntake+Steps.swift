import EventLoop
import FarmStore
import Logging

/// Steps are carried out in Redis.
extension AppIntake {
    func carryOut(_ step: IntakeStep?, _ token: FenceToken) async throws(StoreError) {
        switch step {
        case nil: break
        case .refuse(let refusal): try await refuse(refusal, token)
        case .split(let plan): try await split(plan, token)
        }
    }

    private func refuse(_ refusal: IntakeStep.Refusal, _ token: FenceToken) async throws(StoreError) {
        context.log.info(
            "job refused",
            metadata: [
                "app": "\(name)", "job": "\(refusal.job ?? "")", "field": "\(refusal.field)",
                "reason": "\(refusal.reason)",
            ])
        _ = try await patiently(
            Refuse(
                token: token, step: step + 1, job: refusal.job, field: refusal.field,
                position: refusal.position, reason: refusal.reason, original: refusal.original,
                retention: retention))
        advance(jobs: 1)
        context.counts.refused += 1
    }

    private func split(_ plan: IntakeStep.Plan, _ token: FenceToken) async throws(StoreError) {
        let request = Split(
            token: token, step: step + 1, dropped: plan.dropped, head: plan.head, jobs: plan.jobs,
            batches: plan.batches, retention: retention)
        do throws(StoreError) {
            switch try await patiently(request) {
            case .done(_, let nextDue):
                if let nextDue { context.tell(.putOff(app: name, milliseconds: nextDue.milliseconds)) }
            case .doneBefore: context.tell(.putOff(app: name, milliseconds: 0))
            }
            advance(jobs: plan.dropped)
            context.counts.pushes += UInt64(plan.batches.reduce(0) { $0 + $1.tokens })
        } catch {
            guard case .exists(let id) = error, queue.refuseDuplicate(id) else { throw error }
        }
    }

    private func advance(jobs: Int) {
        step += 1
        queue.done()
        context.counts.jobs += UInt64(jobs)
    }

    private var retention: Retention {
        var retention = Retention()
        retention.accounts = Int(setup.accounts)
        retention.accountSeconds = Int(setup.accountSeconds)
        return retention
    }
}
