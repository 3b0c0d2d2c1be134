/// A view in `top`: a list, or one item of a list.
enum TopView: Hashable {
    enum List: Int, CaseIterable {
        case apps, workers, hosts, jobs, campaigns

        var title: String {
            switch self {
            case .apps: "Apps"
            case .workers: "Workers"
            case .hosts: "Hosts"
            case .jobs: "Jobs"
            case .campaigns: "Campaigns"
            }
        }
    }

    case list(List)
    case host(String)
    case worker(host: String, index: String)
    case app(String)
    case job(app: String, id: String)
    case campaign(app: String, id: String)

    /// The name of the series that stores the view's rate.
    var name: String {
        switch self {
        case .list: "farm"
        case .host(let host): "host \(host)"
        case .worker(let host, let index): "worker \(host) \(index)"
        case .app(let app): "app \(app)"
        case .job(let app, let id): "job \(app) \(id)"
        case .campaign(let app, let id): "campaign \(app) \(id)"
        }
    }
}
